"""Runs of the judge: switch, limits, command and status (docs/guides/conflicts.md)."""

from datetime import timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django_q.models import OrmQ

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope, system_access
from apps.llm.models import ModelCall
from apps.semantic import tasks
from apps.semantic.judge.services import JudgeState, judge_get, judge_status, judge_update
from apps.semantic.models import Conflict, Judge, JudgedPair, Memory
from tests.api import Api, api_for
from tests.integration.llm.chat_server import ChatServer
from tests.integration.llm.configuring import price
from tests.integration.semantic.undecided import (
    COEXIST,
    UPDATE,
    active,
    judge,
    model_of,
    notice,
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


# Budget, limits, and the switch


def test_budget_refusal_ends_run_says_so_and_counts_as_not_asked(chat_server: ChatServer, settings: Any) -> None:
    notice(OSLO, BERGEN)
    judge_update(settings={"enabled": True})
    price(
        provider=chat_server.address.replace("http://", "openai@"), model="some-model", output_per_million=Decimal(100)
    )
    with model_of(settings, chat_server, budget="0.01"):
        report = judge()
        assert (report.ended, chat_server.received) == ("budget", [])
        status = judge_status()
        assert (status.state, status.asked_today, status.waiting) == (JudgeState.BUDGET, 0, 1)
        assert "budget" in status.judge.last_error
    with model_of(settings, chat_server, budget="1"):
        chat_server.say(UPDATE)
        assert judge().asked == {"update": 1}
        assert judge_status().state is JudgeState.READY
    assert ModelCall.objects.filter(purpose="judge").count() == 2


def test_no_more_pairs_than_day_allows(chat_model: ChatServer) -> None:
    notice(OSLO, BERGEN)
    notice("Ben keeps bees.", "Ben keeps two hives of bees.", scope=Scope("ben"))
    judge_update(settings={"pairs_per_day": 1, "enabled": True})
    chat_model.say(COEXIST)
    assert (judge().ended, judge().ended) == ("quota", "quota")
    assert (len(chat_model.received), judge_status().state) == (1, JudgeState.QUOTA)
    JudgedPair.objects.update(asked_at=utcnow(SYSTEM_CLOCK) - timedelta(days=1))
    assert judge().asked == {"coexist": 1}


def test_run_ends_at_its_own_limits(chat_model: ChatServer) -> None:
    notice(OSLO, BERGEN)
    notice("Ben keeps bees.", "Ben keeps two hives of bees.", scope=Scope("ben"))
    chat_model.say(COEXIST)
    report = judge(max_pairs=1)
    assert (report.ended, report.asked.total(), report.receipts.total()) == ("pairs", 1, 1)


def test_off_unless_it_is_turned_on(chat_model: ChatServer) -> None:
    notice(OSLO, BERGEN)
    tasks.judge_enabled()
    tasks.judge(scheduled=True)
    assert judge_status().state is JudgeState.OFF
    assert (OrmQ.objects.count(), chat_model.received, JudgedPair.objects.count()) == (0, [], 0)
    judge_update(settings={"enabled": True})
    tasks.judge_enabled()
    [task] = OrmQ.objects.all()
    assert (task.func(), task.task["kwargs"]) == ("apps.semantic.tasks.judge", {"scheduled": True})
    chat_model.say(UPDATE)
    tasks.judge(scheduled=True)
    assert (active(), judge_status().state) == ([BERGEN], JudgeState.READY)


def test_without_model_nothing_changes() -> None:
    notice(OSLO, BERGEN)
    before = Conflict.objects.count()
    assert judge_status().state is JudgeState.OFF
    judge_update(settings={"enabled": True})
    assert judge_status().state is JudgeState.NO_MODEL
    tasks.judge_enabled()
    assert (OrmQ.objects.count(), JudgedPair.objects.count(), Conflict.objects.count()) == (0, 0, before)
    report = judge()
    assert (report.ended, report.error) == ("no_model", "")


def test_turning_off_ends_scheduled_run_before_its_next_question(chat_model: ChatServer) -> None:
    notice(OSLO, BERGEN)
    notice("Ben keeps bees.", "Ben keeps two hives of bees.", scope=Scope("ben"))
    judge_update(settings={"enabled": True})

    chat_model.say(COEXIST)
    report = judge(only_if_enabled=True, progress=lambda _: judge_update(settings={"enabled": False}))
    assert (report.ended, report.asked.total()) == ("stepped_aside", 1)


# The command


def command(*arguments: str) -> str:
    out = StringIO()
    call_command("judge_conflicts", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_command_asks_and_says_what_followed(chat_model: ChatServer) -> None:
    notice(OSLO, BERGEN)
    chat_model.say(UPDATE)
    assert command("--user", "ana") == (
        "1 pairs asked about: 1 update; receipts: 1 superseded existing.\n"
        "The model was asked about every undecided pair of the scope.\n"
    )
    assert judge_status().state is JudgeState.OFF


def test_dry_run_counts_and_leaves_no_trace(chat_model: ChatServer) -> None:
    notice(OSLO, BERGEN)
    notice("Ben keeps bees.", "Does Ben keep bees?", scope=Scope("ben"))
    assert command("--everyone", "--dry-run") == (
        "2 undecided receipts; 1 pairs would be asked about, 1 not (1 question). Nothing was asked.\n"
    )
    assert (chat_model.received, JudgedPair.objects.exists(), Judge.objects.exists()) == ([], False, False)


def test_command_continues_where_it_stopped(chat_model: ChatServer) -> None:
    notice(OSLO, BERGEN)
    notice("Ben keeps bees.", "Ben keeps two hives of bees.", scope=Scope("ben"))
    chat_model.say(COEXIST)
    assert "Repeat the command" in command("--everyone", "--max-pairs", "1")
    assert "1 pairs asked about: 1 coexist" in command("--everyone", "--max-pairs", "1")


def test_command_without_model_says_so() -> None:
    notice(OSLO, BERGEN)
    assert "No chat model is configured" in command("--everyone")


def test_command_switches_scheduled_runs(chat_model: ChatServer) -> None:
    assert command("--switch", "on") == "The judge: ready.\n"
    assert judge_status().judge.enabled
    assert command("--switch", "off") == "The judge: off.\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Name a scope"),
        (["--user", "ana", "--everyone"], "Name a scope"),
        (["--everyone", "--max-pairs", "0"], "at least 1"),
    ],
)
def test_command_says_what_is_wrong_with_its_options(arguments: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        command(*arguments)


# Status


def test_status_over_rest_is_for_keys_without_bound(chat_model: ChatServer, api: Api) -> None:
    notice(OSLO, BERGEN)
    chat_model.say(UPDATE)
    judge()
    answer = api_for(Scope()).get("/api/semantic/status").json()["judge"]
    assert (answer["state"], answer["waiting"], answer["asked_today"]) == ("off", 0, 1)
    assert (answer["counts"], answer["last_end"], answer["last_error"]) == ({"update": 1}, "complete", None)
    assert answer["model"].endswith("/some-model")
    assert "judge" not in api.get("/api/semantic/status").json()


@pytest.mark.parametrize("bad", [{"pairs_per_day": 0}, {"pairs_per_day": 10_001}, {"max_seconds": 301}])
def test_limits_are_limited(bad: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        judge_update(settings=bad)
    with pytest.raises(IntegrityError), transaction.atomic():
        Judge.objects.filter(pk=judge_get().pk).update(**bad)


def test_there_is_one_judge() -> None:
    judge_get()
    with pytest.raises(IntegrityError, match="semantic_judge_only_one"), transaction.atomic():
        Judge.objects.create(pk=2)
