"""Which pairs a chat model is asked about, each once, and what has changed since (docs/guides/conflicts.md)."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from apps.core.domain.scope import Access, Scope, system_access
from apps.llm.models import ModelCall
from apps.rules.services import rule_delete, rule_register
from apps.semantic.conflicts.review import Winner
from apps.semantic.judge import ask as asking
from apps.semantic.judge import run as running
from apps.semantic.judge.services import judge_preview, judge_status
from apps.semantic.models import Conflict, JudgedPair, Memory
from apps.semantic.services import (
    conflict_accept,
    conflict_override,
    memories_purge,
    memory_delete,
)
from tests.integration.llm.chat_server import ChatServer, Reply
from tests.integration.semantic.undecided import (
    CURIOUS,
    UPDATE,
    active,
    judge,
    model_of,
    notes_in,
    notice,
    verdict,
)

pytestmark = pytest.mark.django_db

OSLO, BERGEN = "Ana rents a flat in Oslo.", "Ana rents a flat in Bergen."
SYSTEM = system_access("test")
AUDIT = {"updated_at", "version"}


def rows() -> list[dict[str, Any]]:
    """Every memory, but for the audit's own columns."""
    found = Memory.objects.order_by("id").values()
    return [{name: value for name, value in row.items() if name not in AUDIT} for row in found]


def judged() -> Conflict:
    """The receipt that the judge has left."""
    return Conflict.objects.select_related("about", "result").get(origin="judge")


# What is not asked about


@pytest.mark.parametrize(
    "texts", [("Ana takes warfarin.", "Does Ana take warfarin?"), ("Does Ana take warfarin?", "Ana takes warfarin.")]
)
def test_question_is_never_put_to_model(chat_model: ChatServer, texts: tuple[str, str]) -> None:
    before = notice(*texts)
    chat_model.say(UPDATE)
    report = judge()
    assert (report.skipped, chat_model.received) == ({"question": 1}, [])
    assert judge().skipped == {}
    before.refresh_from_db()
    assert (before.state, active()) == ("open", list(texts))


def test_what_person_has_reviewed_is_not_asked_about(chat_model: ChatServer) -> None:
    conflict_accept(access=SYSTEM, uuid=notice(OSLO, BERGEN).uuid)
    assert judge().asked == {}


def test_memory_that_is_not_active_any_more_is_left_alone(chat_model: ChatServer) -> None:
    before = notice(OSLO, BERGEN)
    memory_delete(access=SYSTEM, uuid=before.existing.uuid)
    assert (judge().asked, chat_model.received) == ({}, [])


def change_before_deciding(
    chat_model: ChatServer, monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]
) -> None:
    """Change something after the question was answered, and before anything is decided."""
    real = running.decide

    def decide(*arguments: Any) -> Any:
        change()
        return real(*arguments)

    monkeypatch.setattr(running, "decide", decide)
    chat_model.say(UPDATE)


def test_memory_that_is_deleted_since_is_skipped(chat_model: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    before = notice(OSLO, BERGEN)
    change_before_deciding(chat_model, monkeypatch, lambda: memory_delete(access=SYSTEM, uuid=before.candidate.uuid))
    assert (judge().receipts, active()) == ({}, [OSLO])
    assert judge().asked == {}


def test_memory_that_says_something_else_since_is_skipped(
    chat_model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    notice(OSLO, BERGEN)
    changed = "Ana once rented a flat in Oslo."
    change_before_deciding(chat_model, monkeypatch, lambda: Memory.objects.filter(content=OSLO).update(content=changed))
    assert (judge().receipts, active()) == ({}, [changed, BERGEN])


def test_notice_that_person_decides_is_skipped(chat_model: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    before = notice(OSLO, BERGEN)
    change_before_deciding(
        chat_model,
        monkeypatch,
        lambda: conflict_override(access=SYSTEM, uuid=before.uuid, winner=Winner.EXISTING),
    )
    assert (judge().receipts, active()) == ({}, [OSLO])


# Once each, whatever is killed


class Killed(BaseException):
    """As a signal would end a process: nothing gets to note it."""


def kill(*_: Any, **__: Any) -> Any:
    raise Killed


def test_run_that_was_killed_after_answer_does_not_ask_again(
    chat_model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    notice(OSLO, BERGEN)
    chat_model.say(UPDATE)
    with monkeypatch.context() as patch:
        patch.setattr(running, "decide", kill)
        with pytest.raises(Killed):
            judge()
    assert active() == [OSLO, BERGEN]
    report = judge()
    assert (report.asked, report.receipts, len(chat_model.received)) == ({}, {"superseded_existing": 1}, 1)


def test_run_that_was_killed_before_answer_asks_again(chat_model: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    notice(OSLO, BERGEN)
    chat_model.say(UPDATE)
    with monkeypatch.context() as patch:
        patch.setattr(asking, "chat", kill)
        with pytest.raises(Killed):
            judge()
    assert JudgedPair.objects.get().state == "asked"
    assert judge().asked == {"update": 1}


def test_pair_is_asked_again_only_with_another_question_or_model(
    chat_model: ChatServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    notice(OSLO, BERGEN)
    chat_model.say(Reply(chunks=("Both are lovely notes!",)))
    judge()
    assert judge().asked == {}
    monkeypatch.setattr("apps.semantic.judge.pairs.PROMPT_VERSION", 2)
    assert judge().asked == {"unanswered": 1}
    with model_of(settings, chat_model, name="another-model"):
        assert judge().asked == {"unanswered": 1}
        assert judge().asked == {}


def test_no_pair_is_recorded_twice() -> None:
    receipt = notice(OSLO, BERGEN)
    pair = {"notice": receipt, "candidate": receipt.candidate, "existing": receipt.existing}
    JudgedPair.objects.create(**pair, prompt_version=1, model="m", state="asked")
    with pytest.raises(IntegrityError, match="semantic_judged_pair_once"), transaction.atomic():
        JudgedPair.objects.create(**pair, prompt_version=1, model="m", state="asked")


def test_second_run_steps_aside(chat_model: ChatServer) -> None:
    notice(OSLO, BERGEN)
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [running._LOCK])
        assert (judge().ended, chat_model.received) == ("stepped_aside", [])
        cursor.execute("SELECT pg_advisory_unlock(%s)", [running._LOCK])
    other.close()
    chat_model.say(UPDATE)
    assert judge().asked == {"update": 1}


def test_failure_of_ours_is_noted_without_words_of_memory(
    chat_model: ChatServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> None:
        raise ValueError(OSLO)

    notice(OSLO, BERGEN)
    chat_model.say(UPDATE)
    monkeypatch.setattr(running, "decide", fail)
    caplog.set_level("DEBUG")
    report = judge()
    assert (report.ended, report.error.startswith("ValueError in ")) == ("failed", True)
    assert "Oslo" not in report.error + caplog.text + judge_status().judge.last_error


# Whose memories


def test_memories_of_another_scope_are_neither_read_nor_changed(chat_model: ChatServer) -> None:
    notice(OSLO, BERGEN)
    notice("Ben keeps bees.", "Ben keeps two hives of bees.", scope=Scope("ben"))
    chat_model.say(UPDATE)
    report = judge(scope=Scope("ben"))
    assert report.asked == {"update": 1}
    assert [notes_in(received)["later"]["text"] for received in chat_model.received] == ["Ben keeps two hives of bees."]
    assert active() == [OSLO, BERGEN, "Ben keeps two hives of bees."]
    assert judged().user_id == "ben"


@pytest.mark.parametrize("other", [Scope("ana", "home"), Scope("ana", None, "cook")])
def test_only_memories_of_one_exact_scope_are_put_together(chat_model: ChatServer, other: Scope) -> None:
    before = notice(OSLO, BERGEN)
    notice("Ana hums.", "Ana hums tunes.", scope=other)
    stranger = Memory.objects.get(content="Ana hums.")
    Conflict.objects.exclude(pk=before.pk).delete()
    Conflict.objects.filter(pk=before.pk).update(existing=stranger)
    chat_model.say(UPDATE)
    assert (judge().asked, chat_model.received) == ({}, [])


def test_bound_key_sees_receipts_of_its_own(chat_model: ChatServer, ana: Access) -> None:
    notice("Ben keeps bees.", "Ben keeps two hives of bees.", scope=Scope("ben"))
    chat_model.say(UPDATE)
    judge()
    assert not Conflict.objects.visible_to(ana).exists()


def test_purge_removes_what_model_said(chat_model: ChatServer) -> None:
    notice(OSLO, BERGEN)
    chat_model.say(verdict("update", "later", reason="Ana moved from Oslo."))
    judge()
    memories_purge(access=SYSTEM, scope=Scope("ana"))
    assert not JudgedPair.objects.exists()
    assert not Conflict.objects.exists()


def test_preview_counts_and_asks_nothing(chat_model: ChatServer) -> None:
    notice(OSLO, BERGEN)
    notice("Ben keeps bees.", "Does Ben keep bees?", scope=Scope("ben"))
    preview = judge_preview(scope=Scope())
    assert (preview.notices, preview.pairs, preview.skipped) == (2, 1, {"question": 1})
    assert (chat_model.received, JudgedPair.objects.count()) == ([], 0)


def test_words_are_not_in_log_or_call(chat_model: ChatServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    notice(OSLO, BERGEN)
    chat_model.say(verdict("update", "later", reason="Bergen is where she moved."))
    judge()
    assert "Bergen" not in caplog.text
    call = ModelCall.objects.get()
    assert (call.actor, call.purpose, call.prompt, call.answer) == ("judge", "judge", None, None)


def test_rule_still_applies_under_which_everything_is_noticed(chat_model: ChatServer) -> None:
    notice(OSLO, BERGEN)
    rule_register(document={"name": "curious", "priority": 9, "detection": CURIOUS}, actor="test")
    chat_model.say(UPDATE)
    assert judge().receipts == {"superseded_existing": 1}
    assert judged().rule_name == "curious"
    rule_delete(name="curious", actor="test")
    assert json.loads(json.dumps(judged().rule))["name"] == "curious"
