"""A person who pauses is not remembered by any application, on any way, and reads and writes on as before."""

from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import Scope
from apps.core.models import Pause
from apps.core.pauses import pause_begin, pause_end, pause_of
from apps.core.personal.registry import personal_stores
from apps.episodic.models import TimelineEvent
from apps.notes.files.owner import folder_of
from apps.notes.models import ConversationMessage, ExtractedFact
from apps.notes.services import runs_continue
from apps.semantic.models import Memory
from tests.api import MEMORIES, SEARCH, Api, api_for
from tests.integration.personal.hubs import empty_hub, exported, imported
from tests.integration.webui.person import ANA, BEN, remember

pytestmark = pytest.mark.django_db

SESSION = "/api/auto-memory/sessions/chat"
EVENT = {"user_id": ANA, "event_type": "said", "content": "Ana said hello", "timestamp": "2026-03-05T12:00:00Z"}
WRITES: dict[str, tuple[str, Any]] = {
    "memory": (MEMORIES, {"user_id": ANA, "content": "Ana likes tea"}),
    "event": ("/api/episodic/events", EVENT),
    "entry": ("/api/memory/main/entries", {"user_id": ANA, "entry": "likes tea"}),
    "daily": ("/api/memory/daily/entries", {"user_id": ANA, "entry": "likes tea"}),
    "message": (f"{SESSION}/messages", {"user_id": ANA, "messages": [{"role": "user", "content": "I like tea."}]}),
    "command": (
        "/api/memory/commands",
        {"user_id": ANA, "command": "create", "path": "/memories/tea.md", "file_text": "likes tea"},
    ),
}


@pytest.fixture
def kitchen() -> Api:
    """An application that may write for everyone."""
    return api_for(Scope())


def pause(**fields: Any) -> Pause:
    return pause_begin(**{"user_id": ANA, "until": None, "actor": "person:ana", **fields})


def code(answer: HttpResponse) -> str:
    return answer.json()["errors"][0]["code"]


@pytest.mark.parametrize("path_and_body", WRITES.values(), ids=WRITES.keys())
def test_nothing_is_saved_on_any_way_while_it_lasts(kitchen: Api, path_and_body) -> None:
    pause()
    answer = kitchen.post(*path_and_body)
    assert (answer.status_code, code(answer)) == (409, "saving_paused"), answer.content
    kept = (Memory.objects.filter(user_id=ANA), TimelineEvent.objects.all(), ConversationMessage.objects.all())
    assert not any(rows.exists() for rows in kept)
    assert not list(folder_of(ANA).path.glob("**/*.md"))
    pause_end(user_id=ANA)
    assert kitchen.post(*path_and_body).status_code in {200, 201}


def test_a_batch_is_saved_but_for_those_who_paused(kitchen: Api) -> None:
    pause()
    drafts = [{"user_id": user, "content": f"{user} likes tea"} for user in (ANA, BEN)]
    items = kitchen.post(f"{MEMORIES}/batch", {"memories": drafts}).json()["results"]
    assert items[0]["status"] != items[1]["status"]
    assert list(Memory.objects.values_list("user_id", flat=True)) == [BEN]
    events = [EVENT, {**EVENT, "user_id": BEN}]
    kitchen.post("/api/episodic/events/batch", {"events": events})
    assert list(TimelineEvent.objects.values_list("user_id", flat=True)) == [BEN]


def test_other_words_for_a_memory_wait_and_other_fields_do_not(kitchen: Api) -> None:
    memory = remember(ANA, "Ana likes tea")
    pause()
    answer = kitchen.patch(f"{MEMORIES}/{memory.uuid}", {"content": "Ana likes coffee"})
    assert (answer.status_code, code(answer)) == (409, "saving_paused")
    assert kitchen.patch(f"{MEMORIES}/{memory.uuid}", {"importance": 0.9}).status_code == 200
    assert kitchen.delete(f"{MEMORIES}/{memory.uuid}").status_code in {200, 204}


def test_what_is_known_is_found_while_it_lasts(kitchen: Api) -> None:
    remember(ANA, "Ana likes tea")
    pause()
    assert kitchen.post(SEARCH, {"query": "tea", "user_id": ANA}).json()["count"] == 1


def test_a_fact_that_was_said_before_is_dropped_and_says_why(kitchen: Api) -> None:
    said = {"user_id": ANA, "messages": [{"role": "user", "content": "I really like green tea."}]}
    assert kitchen.post(f"{SESSION}/messages", said).status_code == 201
    assert kitchen.post(f"{SESSION}/events", {"user_id": ANA, "type": "session.end"}).status_code in {200, 202}
    pause()
    assert runs_continue() == 1
    assert [(fact.state, fact.reason) for fact in ExtractedFact.objects.all()] == [("dropped", "saving_paused")]
    assert not Memory.objects.exists()


def test_it_ends_at_its_moment(kitchen: Api) -> None:
    now = utcnow(SYSTEM_CLOCK)
    pause(until=now + timedelta(hours=1))
    assert kitchen.post(*WRITES["memory"]).status_code == 409
    Pause.objects.update(until=now - timedelta(seconds=1))
    assert pause_of(ANA) is None
    assert kitchen.post(*WRITES["memory"]).status_code == 201
    with pytest.raises(InvalidInputError):
        pause(until=now - timedelta(seconds=1))


def test_a_person_pauses_and_goes_on_at_home(ana: Client, kitchen: Api) -> None:
    page = ana.post(reverse("webui:pause"), {"length": "hour"}, follow=True).content.decode()
    assert "Nothing is remembered until" in page
    assert "Pause remembering" not in page
    assert kitchen.post(*WRITES["memory"]).status_code == 409
    memory = remember(BEN, "Ben likes tea")
    assert memory.user_id == BEN
    page = ana.post(reverse("webui:go_on"), follow=True).content.decode()
    assert "can remember again" in page
    assert kitchen.post(*WRITES["memory"]).status_code == 201


def test_a_person_may_correct_what_is_known_while_it_lasts(ana: Client) -> None:
    memory = remember(ANA, "Ana likes tea")
    pause()
    ana.post(reverse("webui:memory_correct", args=[memory.uuid]), {"content": "Ana likes coffee"})
    assert Memory.objects.filter(user_id=ANA, status="active", content="Ana likes coffee").exists()


def test_a_pause_of_no_length_is_refused(ana: Client) -> None:
    ana.post(reverse("webui:pause"), {"length": "forever"})
    assert not Pause.objects.exists()


def test_it_moves_to_another_hub_and_is_forgotten(db: None) -> None:
    until = utcnow(SYSTEM_CLOCK) + timedelta(days=1)
    pause(until=until)
    file = exported()
    empty_hub()
    imported(file)
    assert Pause.objects.get().until == until
    assert exported() == file
    store = next(store for store in personal_stores() if store.name == "pauses")
    assert (store.count(ANA), list(store.forget(ANA)), list(store.find(ANA))) == (1, [1], [])
