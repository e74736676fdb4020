"""Records of calls to chat models, and what recent ones say: how long they took, what they cost, how they ended."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Count

from apps.core.db.statements import Statement, run
from apps.core.db.user_locks import forgotten_since_sql, hold_sql
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, to_datetime, utcnow
from apps.core.domain.latency import Measurement, measure
from apps.llm import metrics
from apps.llm.domain.chat import Usage
from apps.llm.guards.rules import GuardRules
from apps.llm.models import BudgetDay, CallGuard, CallOutcome, ModelCall
from apps.llm.models.call import MAX_PURPOSE_CHARS
from apps.llm.models.fields import MAX_ACTOR_CHARS, MAX_MODEL_CHARS, MAX_PROVIDER_CHARS, MAX_REASON_CHARS

NO_PROVIDER = "none"
NOTHING_USED = Usage(0, 0)
RECENT = timedelta(days=1)
SAMPLED_CALLS = 2_000
SHOWN_REASONS = 3
# Failures that led a breaker to open happened within its window; a call itself may take minutes.
BEFORE_OPENING = timedelta(minutes=10)


@dataclass(frozen=True)
class CallContent:
    """What was asked and answered."""

    prompt: str = field(repr=False)
    answer: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class CallRecord:
    """One call through the gateway, with all its attempts.

    actor: who wanted it. purpose: what for, a short code. user_id: whose memories it was about. provider, model: of
    the last attempt, empty without one. usage, cost_usd: of all attempts; the cost is None when the price is
    unknown. guard: which one refused it, exactly when `outcome` is refused. reason: a code. started_at:
    milliseconds since the epoch. content: stored only if the rules keep it.
    """

    actor: str
    purpose: str
    user_id: str = ""
    outcome: CallOutcome
    latency_ms: float
    started_at: int
    provider: str = ""
    model: str = ""
    usage: Usage = NOTHING_USED
    cost_usd: Decimal | None = None
    attempts: int = 0
    guard: CallGuard | None = None
    reason: str = ""
    content: CallContent | None = None


def call_record(*, record: CallRecord, rules: GuardRules) -> UUID:
    """Store the record of a call; return its id. Raises IntegrityError where guard and outcome do not agree."""
    uuid, statements = record_sql(record, rules)
    with transaction.atomic():
        run(*statements)
    observe(record)
    return uuid


def record_sql(record: CallRecord, rules: GuardRules) -> tuple[UUID, list[Statement]]:
    """Return the id that a record will have, and the statements that store it, for one transaction.

    A call may be under way while its user is forgotten: then neither the user nor what was said is stored.
    """
    uuid, content = uuid4(), record.content if rules.keeps_content else None
    columns = {
        "uuid": uuid,
        "actor": record.actor[:MAX_ACTOR_CHARS],
        "user_id": record.user_id,
        "purpose": record.purpose[:MAX_PURPOSE_CHARS],
        "provider": record.provider[:MAX_PROVIDER_CHARS],
        "model": record.model[:MAX_MODEL_CHARS],
        "input_tokens": record.usage.input_tokens,
        "output_tokens": record.usage.output_tokens,
        "is_estimated": record.usage.estimated,
        "cost_usd": record.cost_usd,
        "latency_ms": record.latency_ms,
        "attempts": record.attempts,
        "outcome": record.outcome.value,
        "guard": record.guard.value if record.guard else "",
        "reason": record.reason[:MAX_REASON_CHARS],
        "started_at": to_datetime(record.started_at),
        "prompt": make_storable(content.prompt) if content else None,
        "answer": make_storable(content.answer) if content else None,
    }
    forgotten = forgotten_since_sql(record.user_id, to_datetime(record.started_at))
    removed = f"CASE WHEN {forgotten.text} THEN {{}} ELSE %s END"
    places = dict.fromkeys(columns, "%s")
    parameters = {name: [value] for name, value in columns.items()}
    for name, nothing in {"user_id": "''", "prompt": "NULL", "answer": "NULL"}.items():
        if columns[name]:
            places[name], parameters[name] = removed.format(nothing), [*forgotten.parameters, columns[name]]
    text = f"INSERT INTO llm_modelcall ({', '.join(columns)}) VALUES ({', '.join(places.values())})"  # noqa: S608
    insert = Statement(text, [value for values in parameters.values() for value in values])
    return uuid, [hold_sql(record.user_id), insert] if record.user_id else [insert]


def observe(record: CallRecord) -> None:
    """Count a call whose record was committed."""
    metrics.CALLS.labels(record.provider or NO_PROVIDER, record.outcome.value).inc()


def make_storable(text: str) -> str:
    """Replace each character that PostgreSQL cannot store: NUL, and halves of a surrogate pair."""
    return text.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass(frozen=True)
class SpentDay:
    """What was spent in a day of UTC. waived: the part of it that an operator waived. limit: None without one."""

    day: date
    spent: Decimal
    waived: Decimal
    limit: Decimal | None


def recent_latencies(*, clock: Clock = SYSTEM_CLOCK) -> Mapping[str, Measurement]:
    """Return by provider how long its last successful calls took, with waits and all tries (spec 002 section 11).

    Of the last day, at most SAMPLED_CALLS of all providers together; none for a provider without any.
    """
    calls = ModelCall.objects.filter(started_at__gte=utcnow(clock) - RECENT, outcome=CallOutcome.SUCCEEDED)
    newest = calls.order_by("-started_at", "-id").values_list("provider", "latency_ms")[:SAMPLED_CALLS]
    durations: defaultdict[str, list[float]] = defaultdict(list)
    for provider, latency_ms in reversed(newest):
        durations[provider].append(latency_ms)
    return {provider: measure(measured) for provider, measured in durations.items()}


def spent_days(days: int, *, clock: Clock = SYSTEM_CLOCK) -> list[SpentDay]:
    """Return the last `days` days, oldest first, today among them."""
    today = utcnow(clock).date()
    since = today - timedelta(days=days - 1)
    rows = {row.day: row for row in BudgetDay.objects.filter(day__range=(since, today))}
    spent = []
    for day in (since + timedelta(days=number) for number in range(days)):
        row = rows.get(day) or BudgetDay(day=day)
        spent.append(SpentDay(day, Decimal(row.spent_usd), Decimal(row.waived_usd), row.limit_usd))
    return spent


def failure_reasons(provider: str, before: datetime) -> list[tuple[str, int]]:
    """Return why calls to a provider failed shortly before a moment, the most frequent first: a code, and how often."""
    failed = ModelCall.objects.filter(
        provider=provider, outcome=CallOutcome.FAILED, started_at__range=(before - BEFORE_OPENING, before)
    )
    counted = failed.order_by().values_list("reason").annotate(count=Count("pk")).order_by("-count", "reason")
    return [(reason, count) for reason, count in counted[:SHOWN_REASONS]]
