"""Figures over time: what was spent on what, how long calls took, phases of breakers, refused calls."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal

from django.db import connection
from django.db.models import Count, Max, Min, Q, Sum
from django.db.models.functions import TruncDate

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.llm.domain.breaker import Phase
from apps.llm.domain.forecast import (
    LOOKED_BACK_DAYS,
    Forecast,
    PastDay,
    PhaseChange,
    PhaseSpan,
    forecast_spending,
    phase_spans,
)
from apps.llm.models import Breaker, BreakerChange, BudgetDay, CallOutcome, ModelCall

DIMENSIONS = ("purpose", "model", "actor")
SHOWN_PROVIDERS = 3
# Nearest rank, as `core.domain.latency` has it; the index of calls leads with the moment.
LATENCY_SQL = """
SELECT provider, floor(extract(epoch FROM started_at - %(start)s) / %(width)s)::int, count(*),
       percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY latency_ms)
FROM llm_modelcall WHERE started_at >= %(start)s AND started_at < %(end)s AND outcome = 'succeeded'
GROUP BY 1, 2
"""
DAYS_SQL = """
SELECT (started_at AT TIME ZONE 'UTC')::date, coalesce(sum(cost_usd), 0),
       coalesce(sum(cost_usd) FILTER (WHERE (started_at AT TIME ZONE 'UTC')::time > %s::time), 0)
FROM llm_modelcall WHERE started_at >= %s AND started_at < %s GROUP BY 1
"""


@dataclass(frozen=True)
class Buckets:
    """Equal parts of a span of time, the oldest first."""

    start: datetime
    width: timedelta
    count: int

    @property
    def end(self) -> datetime:
        """Return the end of the last one."""
        return self.start + self.count * self.width

    def moments(self) -> list[datetime]:
        """Return the beginning of each."""
        return [self.start + place * self.width for place in range(self.count)]


@dataclass(frozen=True)
class Latencies:
    """Of one provider, in milliseconds; None where no call succeeded. calls: of the whole span."""

    provider: str
    median: list[float | None]
    p95: list[float | None]
    calls: int


@dataclass(frozen=True)
class Refusals:
    """The calls that a guard refused for one reason."""

    guard: str
    reason: str
    count: int
    last: datetime


def spent_on(buckets: Buckets) -> Mapping[str, Mapping[str, list[Decimal]]]:
    """Return what calls cost in each day (UTC), by dimension and value; a value is an actor, a model or a purpose.

    Calls whose price is unknown cost nothing that is known, and are left out.
    """
    calls = ModelCall.objects.filter(started_at__gte=buckets.start, started_at__lt=buckets.end, cost_usd__gt=0)
    rows = calls.order_by().values_list(TruncDate("started_at", tzinfo=UTC), *DIMENSIONS).annotate(Sum("cost_usd"))
    found: dict[str, dict[str, list[Decimal]]] = {name: {} for name in DIMENSIONS}
    for day, *values, cost in rows:
        place = (day - buckets.start.date()).days
        for name, value in zip(DIMENSIONS, values, strict=True):
            found[name].setdefault(value, [Decimal(0)] * buckets.count)[place] += cost
    return found


def latencies_over(buckets: Buckets) -> list[Latencies]:
    """Return percentiles of successful calls in each bucket, of the providers that were called most."""
    with connection.cursor() as cursor:
        cursor.execute(
            LATENCY_SQL, {"start": buckets.start, "end": buckets.end, "width": buckets.width.total_seconds()}
        )
        rows = cursor.fetchall()
    counts, values = Counter[str](), defaultdict[str, dict[int, Sequence[float]]](dict)
    for provider, place, count, percentiles in rows:
        counts[provider] += count
        values[provider][place] = percentiles
    return [
        Latencies(
            provider, _spread(values[provider], 0, buckets.count), _spread(values[provider], 1, buckets.count), calls
        )
        for provider, calls in counts.most_common(SHOWN_PROVIDERS)
    ]


def _spread(values: Mapping[int, Sequence[float]], which: int, count: int) -> list[float | None]:
    return [values[place][which] if place in values else None for place in range(count)]


def breaker_lines(start: datetime, end: datetime) -> Mapping[str, list[PhaseSpan]]:
    """Return the phases of each breaker until now, by provider. end: now."""
    changes: defaultdict[str, list[PhaseChange]] = defaultdict(list)
    kept = BreakerChange.objects.filter(changed_at__range=(start, end)).order_by("changed_at", "id")
    for row in kept:
        changes[row.provider].append(PhaseChange(row.changed_at, Phase(row.phase), Phase(row.previous)))
    lines = {}
    for breaker in Breaker.objects.filter(changed_at__lt=end).order_by("provider"):
        # Of what was before changes were kept, only the present phase is known.
        known_from = start if changes[breaker.provider] else max(start, breaker.changed_at)
        lines[breaker.provider] = phase_spans(changes[breaker.provider], Phase(breaker.phase), known_from, end)
    return lines


def refused_calls(start: datetime, end: datetime) -> list[Refusals]:
    """Return the refused calls by guard and reason, the most frequent first."""
    # The first condition is that of the index of what did not succeed.
    calls = ModelCall.objects.filter(
        ~Q(outcome=CallOutcome.SUCCEEDED), outcome=CallOutcome.REFUSED, started_at__range=(start, end)
    )
    counted = calls.order_by().values_list("guard", "reason").annotate(count=Count("pk"), last=Max("started_at"))
    return [Refusals(*row) for row in counted.order_by("-count", "guard", "reason")]


def spending_forecast(*, clock: Clock = SYSTEM_CLOCK) -> Forecast | None:
    """Return what today and this month will have cost; None while too few days are known.

    The past days are those of the records of calls, which may be kept for a shorter time than is looked back.
    """
    now = utcnow(clock)
    today = now.date()
    days = dict(BudgetDay.objects.filter(day__range=(today.replace(day=1), today)).values_list("day", "spent_usd"))
    spent_today = days.pop(today, Decimal(0))
    return forecast_spending(today, spent_today, sum(days.values(), Decimal(0)), past_days(now))


def past_days(now: datetime) -> list[PastDay]:
    """Return the last whole days since the first recorded call, the oldest first."""
    midnight = datetime.combine(now.date(), time(), UTC)
    first = ModelCall.objects.filter(started_at__lt=midnight).aggregate(first=Min("started_at"))["first"]
    if first is None:
        return []
    since = max(midnight.date() - timedelta(days=LOOKED_BACK_DAYS), first.astimezone(UTC).date() + timedelta(days=1))
    with connection.cursor() as cursor:
        cursor.execute(DAYS_SQL, [f"{now.astimezone(UTC):%H:%M:%S.%f}", datetime.combine(since, time(), UTC), midnight])
        found = {day: PastDay(total, later) for day, total, later in cursor.fetchall()}
    nothing = PastDay(Decimal(0), Decimal(0))
    return [found.get(since + timedelta(days=number), nothing) for number in range((midnight.date() - since).days)]
