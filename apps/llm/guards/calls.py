"""The record of calls to chat models."""

from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID, uuid4

from apps.core.db.statements import Statement, run
from apps.core.domain.clock import to_datetime
from apps.llm import metrics
from apps.llm.domain.chat import Usage
from apps.llm.guards.rules import GuardRules
from apps.llm.models import CallGuard, CallOutcome
from apps.llm.models.call import MAX_PURPOSE_CHARS
from apps.llm.models.fields import MAX_ACTOR_CHARS, MAX_MODEL_CHARS, MAX_PROVIDER_CHARS, MAX_REASON_CHARS

NO_PROVIDER = "none"
NOTHING_USED = Usage(0, 0)


@dataclass(frozen=True)
class CallContent:
    """What was asked and answered."""

    prompt: str = field(repr=False)
    answer: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class CallRecord:
    """One call through the gateway, with all its attempts.

    actor: who wanted it. purpose: what for, a short code. provider, model: of the last attempt, empty without one.
    usage, cost_usd: of all attempts; the cost is None when the price is unknown. guard: which one refused it, exactly
    when `outcome` is refused. reason: a code. started_at: milliseconds since the epoch. content: stored only if the
    rules keep it.
    """

    actor: str
    purpose: str
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
    """Store the record of a call; gives its id. Raises IntegrityError where guard and outcome contradict each other."""
    uuid, statement = storing(record, rules)
    run(statement)
    show(record)
    return uuid


def storing(record: CallRecord, rules: GuardRules) -> tuple[UUID, Statement]:
    """The id that a record will have, and the statement that stores it."""
    uuid, content = uuid4(), record.content if rules.keeps_content else None
    columns = {
        "uuid": uuid,
        "actor": record.actor[:MAX_ACTOR_CHARS],
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
        "prompt": _storable(content.prompt) if content else None,
        "answer": _storable(content.answer) if content else None,
    }
    places = ", ".join(["%s"] * len(columns))
    text = f"INSERT INTO llm_modelcall ({', '.join(columns)}) VALUES ({places})"  # noqa: S608  (names of ours)
    return uuid, Statement(text, list(columns.values()))


def show(record: CallRecord) -> None:
    """Count a call whose record was committed."""
    metrics.CALLS.labels(record.provider or NO_PROVIDER, record.outcome.value).inc()


def _storable(text: str) -> str:
    """`text` with a mark for each character that PostgreSQL cannot store: NUL, and halves of a surrogate pair."""
    return text.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
