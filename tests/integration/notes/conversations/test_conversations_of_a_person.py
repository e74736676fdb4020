"""Conversations leave with their person, come back with an export, and their contents are deleted after some time."""

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock
from apps.core.domain.scope import Scope
from apps.core.personal.store import ExportRequest, LineError
from apps.notes.models import Conversation, ConversationMessage, ExtractedFact, ExtractionRun
from apps.notes.personal.stores import ConversationStore
from apps.notes.services import contents_clear
from tests.api import api_for

pytestmark = pytest.mark.django_db
SESSIONS = "/api/auto-memory/sessions"
DAY_MS = 86_400_000


@pytest.fixture(autouse=True)
def people():
    """Two people with a conversation each: two messages, one recalled text, a run with a fact."""
    for user in ("ana", "ben"):
        api = api_for(Scope(user))
        said = [
            {"role": "user", "content": f"{user} likes tea", "message_id": "m1", "at": "2026-03-04T23:30:00+09:00"},
            {"role": "assistant", "content": "noted"},
        ]
        api.post(f"{SESSIONS}/chat/messages", {"messages": said, "recalled": [f"{user} is here"]})
        api.post(f"{SESSIONS}/chat/events", {"type": "session.end"})
        run = ExtractionRun.objects.get(user_id=user)
        ExtractedFact.objects.create(
            user_id=user, run=run, number=1, message=run.messages.order_by("number").first(), message_number=1,
            content=f"{user} likes tea", category="Preferences", confidence=0.9, pattern="likes",
        )  # fmt: skip


def test_forgetting_takes_everything_of_one_person():
    store = ConversationStore()
    assert store.count("ana") == 1 + 1 + 3 + 1
    assert sum(store.forget("ana")) == 6
    assert (list(store.find("ana")), store.count("ana")) == ([], 0)
    assert (len(list(store.find("ben"))), store.count("ben")) == (4, 6)


def test_export_and_import_are_equal():
    store = ConversationStore()
    ExtractionRun.objects.filter(user_id="ana").update(cost_usd="0.000123", conversation=None)
    lines = json.loads(json.dumps(list(store.export(ExportRequest()))))
    assert [line["at"] for line in lines if line.get("message_id") or line.get("caller_id")] == [
        "2026-03-04T23:30:00+09:00"
    ] * 2
    for user in ("ana", "ben"):
        list(store.forget(user))
    assert store.is_empty()
    by_kind = {kind: [line for line in lines if line["kind"] == kind] for kind in store.kinds}
    assert [store.load(by_kind[kind]) for kind in store.kinds] == [2, 2, 6, 2]
    assert json.loads(json.dumps(list(store.export(ExportRequest())))) == lines
    assert [store.load(by_kind[kind]) for kind in store.kinds] == [0, 0, 0, 0]
    assert {line["user_id"] for line in store.export(ExportRequest(Scope("ben")))} == {"ben"}
    assert list(store.export(ExportRequest(Scope("ben", household_id="home")))) == []
    assert ConversationMessage.objects.filter(run__isnull=False).count() == 4


def test_line_without_what_it_belongs_to_is_refused():
    store = ConversationStore()
    lines = list(store.export(ExportRequest(Scope("ana"))))
    list(store.forget("ana"))
    for kind in ("conversation_message", "extracted_fact"):
        with pytest.raises(LineError):
            store.load([line for line in lines if line["kind"] == kind])
    with pytest.raises(LineError):
        store.load([{**lines[0], "user_id": ""}])


@pytest.mark.usefixtures("timeline_dir")
@pytest.mark.django_db(transaction=True)
def test_command_forgets_conversations():
    call_command("forget", "ana", "--yes")
    assert set(Conversation.objects.values_list("user_id", flat=True)) == {"ben"}
    assert not ExtractedFact.objects.filter(user_id="ana").exists()


def test_contents_are_deleted_after_some_days():
    now = timezone.now()
    ExtractionRun.objects.filter(user_id="ana").update(state="finished", ended_at=now)
    later = DeterministicClock(SYSTEM_CLOCK.now() + 29 * DAY_MS)
    assert contents_clear(clock=later) == 0
    later.advance(2 * DAY_MS)
    assert contents_clear(clock=later) == 2 + 1 + 1, "what a run is still to read stays; of both the recalled text goes"
    assert contents_clear(clock=later) == 0
    rows = ConversationMessage.objects.filter(user_id="ana")
    assert set(rows.values_list("content", "speaker")) == {("", "")}
    shown = api_for(Scope("ana")).get(f"{SESSIONS}/chat").json()
    assert [each["content"] for each in shown["latest_messages"]] == [None, None, None]
    sent = {"messages": [{"role": "user", "content": "again", "message_id": "m1"}]}
    again = api_for(Scope("ana")).post(f"{SESSIONS}/chat/messages", sent).json()
    assert again["results"][0]["action"] == "known"
    recalled = api_for(Scope("ana")).post(f"{SESSIONS}/chat/messages", {"recalled": ["ana is here"]})
    assert recalled.json()["conversation"]["messages"] == 2, "recalled again, kept again"
    assert ExtractionRun.objects.filter(user_id="ana").exists(), "runs stay"


def test_message_that_no_run_ever_read_goes_as_well():
    api_for(Scope("cem")).post(f"{SESSIONS}/chat/messages", {"messages": [{"role": "user", "content": "x"}]})
    ConversationMessage.objects.filter(user_id="cem").update(received_at=timezone.now() - timedelta(days=31))
    assert contents_clear() == 1
    assert api_for(Scope("cem")).get(f"{SESSIONS}/chat").json()["new_messages"] == 0


def test_names_of_operators_are_exported_to_operators_only():
    ExtractionRun.objects.update(actor="key of Olga")
    ExtractedFact.objects.update(undone_by="Olga")
    for is_operator in (True, False):
        lines = list(ConversationStore().export(ExportRequest(is_operator=is_operator)))
        assert ("Olga" in json.dumps(lines, default=str)) == is_operator
