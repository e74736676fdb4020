"""Conversations over REST: messages, events, throttle and flush (spec 001, automatic extraction)."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.core.db.user_locks import lock_user
from apps.core.domain.scope import Permission, Scope
from apps.notes.conversations import messages
from apps.notes.files.config import config_change
from apps.notes.models import Conversation, ConversationMessage, ExtractionRun
from tests.api import Api, api_for
from tests.threads import at_once

pytestmark = pytest.mark.django_db
SESSIONS = "/api/auto-memory/sessions"


@pytest.fixture
def ana() -> Api:
    """A caller with a key of ana's."""
    return api_for(Scope("ana"))


def say(api: Api, count: int = 1, session: str = "chat", **fields: Any) -> dict[str, Any]:
    """Send messages with ids of their own."""
    start = ConversationMessage.objects.count()
    sent = [
        {"role": "user", "content": f"I like tea {start + n}.", "message_id": f"m{start + n}"} for n in range(count)
    ]
    response = api.post(f"{SESSIONS}/{session}/messages", {"messages": sent, **fields})
    assert response.status_code == 201, response.content
    answer: dict[str, Any] = response.json()
    return answer


def event(api: Api, kind: str, session: str = "chat", **fields: Any) -> dict[str, Any]:
    response = api.post(f"{SESSIONS}/{session}/events", {"type": kind, **fields})
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def age_extraction(seconds: int) -> None:
    """Let time pass since the last extraction."""
    Conversation.objects.update(last_extraction_at=timezone.now() - timedelta(seconds=seconds))


def test_messages_are_kept_in_order_and_shown(ana):
    first = say(ana, 2)
    assert [(each["number"], each["action"]) for each in first["results"]] == [(1, "added"), (2, "added")]
    sent = {"role": "assistant", "content": " *tea* ", "speaker": "Bot", "at": "2026-03-04T23:30:00+09:00"}
    ana.post(f"{SESSIONS}/chat/messages", {"messages": [sent], "recalled": ["Ana likes tea."]})
    shown = ana.get(f"{SESSIONS}/chat").json()
    assert (shown["messages"], shown["new_messages"]) == (3, 3), "recalled texts are no messages"
    third, recalled = shown["latest_messages"][2:]
    assert {name: third[name] for name in sent} == sent
    assert (recalled["role"], recalled["content"], recalled["recalled"]) == ("system", "Ana likes tea.", True)
    assert [each["session_id"] for each in ana.get(SESSIONS).json()["results"]] == ["chat"]


def test_repeated_message_is_known(ana):
    sent = {"messages": [{"role": "user", "content": "I like tea.", "message_id": "m1"}]}
    first = ana.post(f"{SESSIONS}/chat/messages", sent)
    again = ana.post(f"{SESSIONS}/chat/messages", sent)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["results"] == [{**first.json()["results"][0], "action": "known"}]
    both = ana.post(f"{SESSIONS}/chat/messages", {"messages": sent["messages"] * 2})
    assert [each["action"] for each in both.json()["results"]] == ["known", "known"]
    assert ana.get(f"{SESSIONS}/chat").json()["messages"] == 1
    assert ana.post(f"{SESSIONS}/other/messages", sent).status_code == 201, "ids are those of one conversation"


def test_text_that_is_recalled_in_every_turn_is_kept_once(ana):
    for _ in range(3):
        ana.post(f"{SESSIONS}/chat/messages", {"recalled": ["Ana likes tea.", "Ana likes tea."]})
    marked = {"role": "system", "content": "Ana likes tea.", "recalled": True}
    ana.post(f"{SESSIONS}/chat/messages", {"messages": [marked]})
    assert ConversationMessage.objects.count() == 1


def test_turn_with_enough_messages_is_extracted(ana):
    """Spec 001, Turn 完成後提取: a run is requested in the transaction of the event."""
    say(ana, 4)
    answer = event(ana, "stream:idle")
    assert (answer["action"], answer["reason"], len(answer["runs"])) == ("extracting", None, 1)
    run = ExtractionRun.objects.get()
    assert (str(run.uuid), run.trigger, run.state, run.user_id) == (answer["runs"][0], "idle", "waiting", "ana")
    assert run.received == {"messages": 4, "first": 1, "last": 4}
    assert answer["conversation"]["new_messages"] == 0


def test_throttle(ana):
    """Spec 001, 節流控制: skipped within 60 seconds of the last one, and below 4 new messages."""
    say(ana, 3)
    few = event(ana, "stream:idle")
    assert (few["action"], few["reason"], few["missing_messages"]) == ("skipped", "too_few_messages", 1)
    say(ana, 1)
    assert event(ana, "stream:idle")["action"] == "extracting"
    say(ana, 4)
    soon = event(ana, "stream:idle")
    assert (soon["action"], soon["reason"], soon["missing_messages"]) == ("skipped", "too_soon", 0)
    last = Conversation.objects.get().last_extraction_at
    assert last is not None
    assert soon["next_at"] == (last + timedelta(seconds=60)).isoformat().replace("+00:00", "Z")
    age_extraction(61)
    assert event(ana, "stream:idle")["action"] == "extracting"
    assert ExtractionRun.objects.count() == 2


def test_throttle_of_the_settings_holds(ana):
    config_change("ana", {"minNewMessages": 2, "extractIntervalSeconds": 0}, author="test")
    say(ana, 1)
    assert event(ana, "stream:idle")["missing_messages"] == 1
    for _ in range(2):
        say(ana, 2)
        assert event(ana, "stream:idle")["action"] == "extracting"


@pytest.mark.parametrize(("name", "reason"), [("enabled", "disabled"), ("autoExtract", "auto_extract_off")])
@pytest.mark.parametrize("kind", ["stream:idle", "session.end", "session.compaction_start", "session.usage_info"])
def test_nothing_is_extracted_when_it_is_switched_off(ana, name, reason, kind):
    config_change("ana", {name: False}, author="test")
    say(ana, 5)
    answer = event(ana, kind, **({"ratio": 0.9} if kind == "session.usage_info" else {}))
    assert (answer["action"], answer["reason"], answer["runs"]) == ("skipped", reason, [])


def test_end_extracts_what_is_left(ana):
    say(ana, 4)
    event(ana, "stream:idle")
    say(ana, 1)
    ended = event(ana, "session.end")
    assert ended["action"] == "extracting"
    assert ended["conversation"]["ended_at"] is not None
    again = event(ana, "session.end")
    assert (again["action"], again["reason"]) == ("skipped", "nothing_new")
    assert [run.received["messages"] for run in ExtractionRun.objects.order_by("pk")] == [4, 1]
    say(ana, 1)
    assert ana.get(f"{SESSIONS}/chat").json()["ended_at"] is None, "it goes on"


def test_context_use_reaches_the_threshold(ana):
    """Spec 001, Context 使用率達門檻: at 75 %, once in each cycle of compaction."""
    say(ana, 2)
    below = event(ana, "session.usage_info", tokens_used=74_999, token_limit=100_000)
    assert (below["action"], below["reason"]) == ("skipped", "below_threshold")
    full = event(ana, "session.usage_info", tokens_used=75_000, token_limit=100_000)
    assert (full["action"], full["conversation"]["context_use"], full["conversation"]["flushed"]) == (
        "flushing", 0.75, True,
    )  # fmt: skip
    say(ana, 2)
    again = event(ana, "session.usage_info", ratio=0.8)
    assert (again["action"], again["reason"]) == ("skipped", "already_flushed")
    assert event(ana, "session.compaction_start")["reason"] == "already_flushed"
    ended = event(ana, "session.compaction_end")
    assert (ended["action"], ended["conversation"]["cycle"], ended["conversation"]["context_use"]) == ("noted", 2, None)
    assert event(ana, "session.usage_info", ratio=0.9)["action"] == "flushing"
    assert [run.cycle for run in ExtractionRun.objects.order_by("pk")] == [1, 2]


def test_context_that_is_half_empty_again_was_compacted(ana):
    """An application that never says `session.compaction_end` has its next cycles flushed all the same."""
    say(ana, 2)
    assert event(ana, "session.usage_info", ratio=0.2)["conversation"]["cycle"] == 1
    assert event(ana, "session.usage_info", ratio=0.8)["action"] == "flushing"
    say(ana, 2)
    more = event(ana, "session.usage_info", ratio=0.375)
    assert (more["conversation"]["cycle"], more["reason"]) == (1, "already_flushed")
    less = event(ana, "session.usage_info", ratio=0.37)
    assert (less["conversation"]["cycle"], less["reason"]) == (2, "below_threshold")
    assert event(ana, "session.usage_info", ratio=0.1)["conversation"]["cycle"] == 2
    assert event(ana, "session.usage_info", ratio=0.8)["action"] == "flushing"
    assert [run.cycle for run in ExtractionRun.objects.order_by("pk")] == [1, 2]


def test_compaction_event(ana):
    """Spec 001, Compaction 事件觸發: the last chance, when nothing was flushed in this cycle."""
    nothing = event(ana, "session.compaction_start")
    assert (nothing["action"], nothing["reason"]) == ("skipped", "nothing_new")
    say(ana, 1)
    assert event(ana, "session.compaction_start")["action"] == "flushing", "without throttle"
    say(ana, 1)
    assert event(ana, "session.compaction_start")["reason"] == "already_flushed"
    assert ExtractionRun.objects.get().trigger == "compaction"


@pytest.mark.django_db(transaction=True)
def test_two_events_at_once_flush_once(ana):
    say(ana, 4)
    calls = [lambda: event(api_for(Scope("ana")), "session.usage_info", ratio=0.9)] * 3
    calls += [lambda: event(api_for(Scope("ana")), "session.compaction_start")] * 3
    actions = sorted(answer["action"] for answer in at_once(*calls))
    assert actions == ["flushing", *["skipped"] * 5]
    assert ExtractionRun.objects.get().received["messages"] == 4


@pytest.mark.django_db(transaction=True)
def test_first_messages_at_once_make_one_conversation(ana):
    def send(name: str) -> Any:
        body = {"messages": [{"role": "user", "content": "x", "message_id": each} for each in (name, "same")]}
        return api_for(Scope("ana")).post(f"{SESSIONS}/chat/messages", body).status_code

    assert at_once(*[lambda name=name: send(name) for name in "abcd"]) == [201] * 4
    rows = ConversationMessage.objects.order_by("number")
    assert sorted(rows.values_list("caller_id", flat=True)) == ["a", "b", "c", "d", "same"]
    assert list(rows.values_list("number", flat=True)) == [1, 2, 3, 4, 5]


def test_long_conversation_is_extracted_in_several_runs(ana):
    for _ in range(3):
        say(ana, 100)
    answer = event(ana, "session.end")
    assert len(answer["runs"]) == 2
    assert [run.received["messages"] for run in ExtractionRun.objects.order_by("pk")] == [200, 100]


def test_deleted_conversation_takes_its_messages(ana):
    say(ana, 4)
    event(ana, "stream:idle")
    assert ana.delete(f"{SESSIONS}/chat").status_code == 204
    assert ana.delete(f"{SESSIONS}/chat").status_code == 404
    assert ana.get(f"{SESSIONS}/chat").status_code == 404
    assert not ConversationMessage.objects.exists()
    assert ExtractionRun.objects.get().session_id == "chat", "runs stay"


def test_key_sees_only_the_conversations_of_its_user(ana):
    say(ana, 4)
    run = event(ana, "stream:idle")["runs"][0]
    ben = api_for(Scope("ben"))
    assert ben.get(f"{SESSIONS}/chat").status_code == 404
    assert ben.get(f"{SESSIONS}/chat?user_id=ana").status_code == 404
    assert ben.get(f"{SESSIONS}?user_id=ana").status_code == 404
    assert ben.get(f"/api/auto-memory/runs/{run}").status_code == 404
    assert ben.get("/api/auto-memory/runs?user_id=ana").status_code == 404
    assert ben.get("/api/auto-memory/status?user_id=ana").status_code == 404
    assert ben.delete(f"{SESSIONS}/chat?user_id=ana").status_code == 403
    sent = {"messages": [{"role": "user", "content": "x"}], "user_id": "ana"}
    assert ben.post(f"{SESSIONS}/chat/messages", sent).status_code == 403
    assert ben.post(f"{SESSIONS}/chat/events", {"type": "session.end", "user_id": "ana"}).status_code == 403
    assert ben.get(SESSIONS).json()["results"] == []
    say(ben, 1)
    assert ben.get(f"{SESSIONS}/chat").json()["messages"] == 1, "the same session id, of another user"
    assert ana.get(f"{SESSIONS}/chat").json()["messages"] == 4


@pytest.mark.parametrize("scope", [Scope("ana", household_id="elm"), Scope(persona_id="guide")], ids=["house", "role"])
def test_key_for_a_part_of_a_person_has_no_conversations(ana, scope):
    say(ana, 4)
    run = event(ana, "stream:idle")["runs"][0]
    api = api_for(scope)
    for path in (SESSIONS, f"{SESSIONS}/chat", "/api/auto-memory/runs", "/api/auto-memory/status"):
        assert api.get(f"{path}?user_id=ana").status_code == 403
    assert api.get(f"/api/auto-memory/runs/{run}").status_code == 404


def test_key_that_only_reads_may_not_send(ana):
    api = api_for(Scope("ana"), Permission.READ)
    say(ana, 1)
    assert api.get(f"{SESSIONS}/chat").status_code == 200
    assert api.post(f"{SESSIONS}/chat/messages", {"recalled": ["x"]}).status_code == 403
    assert api.post(f"{SESSIONS}/chat/events", {"type": "session.end"}).status_code == 403
    assert api.delete(f"{SESSIONS}/chat").status_code == 403


@pytest.mark.parametrize(
    ("body", "attr"),
    [
        ({}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": " "}]}, "messages.0.content"),
        ({"messages": [{"role": "user", "content": "x" * 100_001}]}, "messages.0.content"),
        ({"messages": [{"role": "user", "content": "x", "at": "2026-03-04T10:00:00"}]}, "messages.0.at"),
        ({"messages": [{"role": "user", "content": "x", "at": "2099-03-04T10:00:00Z"}]}, "messages.0.at"),
        ({"messages": [{"role": "user", "content": "x", "more": 1}]}, "messages.0.more"),
        ({"messages": [{"role": "user", "content": "x"}] * 101}, "messages"),
        ({"recalled": ["x"] * 101}, "recalled"),
    ],
)
def test_bad_messages_are_refused_with_the_place(ana, body, attr):
    refused = ana.post(f"{SESSIONS}/chat/messages", body)
    assert (refused.status_code, refused.json()["errors"][0]["attr"].split(".non_field")[0]) == (400, attr)
    assert not Conversation.objects.exists()


@pytest.mark.parametrize(
    ("body", "attr"),
    [
        ({"type": "session.usage_info"}, "tokens_used"),
        ({"type": "session.usage_info", "tokens_used": 5}, "tokens_used"),
        ({"type": "session.usage_info", "tokens_used": 5, "token_limit": 0}, "token_limit"),
        ({"type": "session.usage_info", "ratio": -1}, "ratio"),
        ({"type": "stream:idle", "ratio": 0.5}, "ratio"),
        ({"type": "stream"}, "type"),
    ],
)
def test_bad_event_is_refused(ana, body, attr):
    refused = ana.post(f"{SESSIONS}/chat/events", body)
    assert (refused.status_code, refused.json()["errors"][0]["attr"]) == (400, attr)


@pytest.mark.parametrize("session", ["x" * 201, "a%00b"], ids=["long", "NUL"])
def test_session_id_that_cannot_be_one_is_refused(ana, session):
    for response in (
        ana.post(f"{SESSIONS}/{session}/messages", {"recalled": ["x"]}),
        ana.post(f"{SESSIONS}/{session}/events", {"type": "session.end"}),
        ana.get(f"{SESSIONS}/{session}"),
        ana.delete(f"{SESSIONS}/{session}"),
    ):
        assert (response.status_code, response.json()["errors"][0]["attr"]) == (400, "session_id")


def test_session_id_in_any_script_is_found(ana):
    say(ana, 1, session="聊天 7")
    assert ana.get(f"{SESSIONS}/聊天 7").json()["session_id"] == "聊天 7"


def test_full_conversation_is_refused_and_stays(ana, monkeypatch):
    monkeypatch.setattr(messages, "MAX_SESSION_MESSAGES", 3)
    say(ana, 3)
    refused = ana.post(f"{SESSIONS}/chat/messages", {"messages": [{"role": "user", "content": "x"}]})
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (409, "conversation_full")
    assert ana.get(f"{SESSIONS}/chat").json()["messages"] == 3


def test_nothing_is_taken_for_a_user_who_is_being_forgotten(ana):
    lock_user("ana", timezone.now())
    for path, body in (("messages", {"recalled": ["x"]}), ("events", {"type": "session.end"})):
        refused = ana.post(f"{SESSIONS}/chat/{path}", body)
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (409, "being_forgotten")
    assert not Conversation.objects.exists()


def test_what_is_said_while_memory_is_off_is_not_kept_and_never_learnt(ana):
    config_change("ana", {"enabled": False}, author="test")
    answer = say(ana, 5, recalled=["Ana likes rice."])
    assert [each["action"] for each in answer["results"]] == ["added"] * 5
    assert {(row.content, row.speaker, row.cleared_at is None) for row in ConversationMessage.objects.all()} == {
        ("", "", False)
    }
    again = ana.post(f"{SESSIONS}/chat/messages", {"messages": [{"role": "user", "content": "x", "message_id": "m0"}]})
    assert again.json()["results"][0]["action"] == "known"
    config_change("ana", {"enabled": True}, author="test")
    assert event(ana, "session.end")["reason"] == "nothing_new"
    say(ana, 4)
    assert event(ana, "stream:idle")["action"] == "extracting"
    numbers = ConversationMessage.objects.exclude(run=None).values_list("number", flat=True)
    assert sorted(numbers) == [6, 7, 8, 9]
