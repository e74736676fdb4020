"""What recent calls to models say: how long they took, what they cost, how they ended."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from django.db.models import Count

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.latency import Measurement, measure
from apps.llm.models import BudgetDay, CallOutcome, ModelCall

RECENT = timedelta(days=1)
SAMPLED_CALLS = 2_000
SHOWN_REASONS = 3
# Failures that led a breaker to open happened within its window; a call itself may take minutes.
BEFORE_OPENING = timedelta(minutes=10)


@dataclass(frozen=True)
class SpentDay:
    """What was spent in a day of UTC. waived: the part of it that an operator waived. limit: None without one."""

    day: date
    spent: Decimal
    waived: Decimal
    limit: Decimal | None


def recent_latencies(*, clock: Clock = SYSTEM_CLOCK) -> Mapping[str, Measurement]:
    """By provider: how long its last calls took that succeeded, waits and all tries included (spec 002 section 11).

    Of the last day, at most SAMPLED_CALLS of all providers together; none for a provider without any.
    """
    calls = ModelCall.objects.filter(started_at__gte=utcnow(clock) - RECENT, outcome=CallOutcome.SUCCEEDED)
    newest = calls.order_by("-started_at", "-id").values_list("provider", "latency_ms")[:SAMPLED_CALLS]
    durations: defaultdict[str, list[float]] = defaultdict(list)
    for provider, latency_ms in reversed(newest):
        durations[provider].append(latency_ms)
    return {provider: measure(measured) for provider, measured in durations.items()}


def spent_days(days: int, *, clock: Clock = SYSTEM_CLOCK) -> list[SpentDay]:
    """The last `days` days, oldest first, today among them."""
    today = utcnow(clock).date()
    since = today - timedelta(days=days - 1)
    rows = {row.day: row for row in BudgetDay.objects.filter(day__range=(since, today))}
    return [_spent_day(since + timedelta(days=number), rows) for number in range(days)]


def failure_reasons(provider: str, before: datetime) -> list[tuple[str, int]]:
    """Why calls to a provider failed shortly before a moment, the most frequent first: a code, and how often."""
    failed = ModelCall.objects.filter(
        provider=provider, outcome=CallOutcome.FAILED, started_at__range=(before - BEFORE_OPENING, before)
    )
    counted = failed.order_by().values_list("reason").annotate(count=Count("pk")).order_by("-count", "reason")
    return [(reason, count) for reason, count in counted[:SHOWN_REASONS]]


def _spent_day(day: date, rows: Mapping[date, BudgetDay]) -> SpentDay:
    row = rows.get(day)
    if row is None:
        return SpentDay(day, Decimal(0), Decimal(0), None)
    return SpentDay(day, row.spent_usd, row.waived_usd, row.limit_usd)
