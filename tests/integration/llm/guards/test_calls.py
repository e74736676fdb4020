from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from apps.core.db.user_locks import lock_user, unlock_user
from apps.core.domain.clock import DeterministicClock, to_datetime
from apps.llm import metrics
from apps.llm.domain.chat import Usage
from apps.llm.guards.calls import CallContent, CallRecord, call_record
from apps.llm.guards.rates import TokenRequest
from apps.llm.guards.sweep import SweptRows, guards_sweep
from apps.llm.models import BudgetDay, BudgetReservation, CallGuard, CallOutcome, ModelCall, TokenUse
from apps.llm.tasks import sweep_guards
from tests.integration.llm.guards.rules import CENT, DAY, NOON, noon, rules
from tests.integration.llm.single_guards import budget_reserve, tokens_reserve

pytestmark = pytest.mark.django_db

RULES = rules()


def stored(outcome: CallOutcome = CallOutcome.SUCCEEDED, *, keeps_content: bool = False, **fields: Any) -> ModelCall:
    given = {"actor": "key:app", "purpose": "extract", "latency_ms": 12.5, "started_at": NOON, **fields}
    uuid = call_record(record=CallRecord(outcome=outcome, **given), rules=rules(keeps_content=keeps_content))
    return ModelCall.objects.get(uuid=uuid)


def test_record_says_who_what_how_much_and_how_it_ended() -> None:
    call = stored(
        CallOutcome.FAILED,
        provider="openai",
        model="gpt-5",
        usage=Usage(10, 20, estimated=True),
        cost_usd=Decimal("0.000000001"),
        attempts=3,
        reason="timeout",
    )
    assert (call.outcome, call.reason, call.guard, call.attempts) == ("failed", "timeout", "", 3)
    assert (call.input_tokens, call.output_tokens, call.is_estimated) == (10, 20, True)
    assert (call.cost_usd, call.latency_ms, call.started_at) == (Decimal("0.000000001"), 12.5, to_datetime(NOON))


def test_refused_call_names_its_guard_and_no_other_call_does() -> None:
    assert stored(CallOutcome.REFUSED, guard=CallGuard.BUDGET, reason="budget_exceeded").guard == "budget"
    for outcome, guard in [(CallOutcome.REFUSED, None), (CallOutcome.SUCCEEDED, CallGuard.RATE)]:
        with pytest.raises(IntegrityError), transaction.atomic():
            stored(outcome, guard=guard)


def test_content_is_kept_only_when_operator_wants_it() -> None:
    content = CallContent("what was asked", "what was answered")
    assert (stored(content=content).prompt, stored(content=content).answer) == (None, None)
    kept = stored(content=content, keeps_content=True)
    assert (kept.prompt, kept.answer) == ("what was asked", "what was answered")
    assert stored(keeps_content=True).prompt is None


@pytest.mark.parametrize("user", ["ana", ""])
def test_call_that_was_under_way_while_its_user_was_forgotten_names_nothing(user: str) -> None:
    content, now = CallContent("what was asked", "what was answered"), datetime.now(UTC)
    began, later = round(now.timestamp() * 1000) - 1000, round(now.timestamp() * 1000) + 3_600_000

    def kept(started_at: int) -> tuple[str, str | None, str | None]:
        call = stored(user_id=user, content=content, keeps_content=True, started_at=started_at)
        return call.user_id, call.prompt, call.answer

    everything = (user, "what was asked", "what was answered")
    assert kept(began) == everything
    with transaction.atomic():
        lock_user("ana", now)
    assert (kept(began), kept(later)) == (("", None, None), ("", None, None))
    unlock_user("ana")
    assert (kept(began), kept(later)) == (("", None, None), everything)


def test_what_postgresql_cannot_store_does_not_lose_record() -> None:
    kept = stored(content=CallContent("nul \x00 and half \ud83d a pair", "whole 😀"), keeps_content=True)
    assert (kept.prompt, kept.answer) == ("nul \ufffd and half \ufffd a pair", "whole 😀")


def test_calls_are_counted_by_outcome() -> None:
    counter = metrics.CALLS.labels("none", "refused")
    before = counter._value.get()
    stored(CallOutcome.REFUSED, guard=CallGuard.BUDGET)
    assert counter._value.get() == before + 1


def test_sweep_removes_expired_reservations_day_later_and_leaves_days() -> None:
    clock, ours = noon(), rules(tokens_per_minute={"own": 100})
    budget_reserve(amount=CENT, rules=ours, clock=clock)
    tokens_reserve(request=TokenRequest("own", "m", 10), rules=ours, clock=clock)
    clock.advance(DAY + ours.reservation_ms)
    assert guards_sweep(clock=clock) == SweptRows(0, 0, 0)
    clock.advance(1)
    assert guards_sweep(clock=clock) == SweptRows(1, 1, 0)
    assert (BudgetReservation.objects.count(), TokenUse.objects.count()) == (0, 0)
    assert BudgetDay.objects.count() == 1


def test_sweep_removes_old_records_of_calls_in_batches(settings) -> None:
    kept_days = settings.MEMORYHUB.guards.call_retention_days
    old, young = NOON - DAY * kept_days - 1, NOON - DAY * kept_days
    for _ in range(5):
        stored(started_at=old)
    stored(started_at=young)
    assert guards_sweep(clock=DeterministicClock(NOON), batch=2) == SweptRows(0, 0, 5)
    assert ModelCall.objects.get().started_at == to_datetime(NOON) - timedelta(days=kept_days)


def test_the_task_sweeps() -> None:
    stored(started_at=0)
    sweep_guards()
    assert not ModelCall.objects.exists()
