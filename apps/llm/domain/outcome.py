"""What comes of a call through the gateway: an answer, or what stopped it (DESIGN D11).

Everything that can be expected to go wrong is a ChatFailure, never an exception.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Generic, TypeVar

from apps.llm.domain.chat import FinishReason, Usage
from apps.llm.domain.json_repair.types import Repair

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
NO_MODEL = "no_model"
OUT_OF_TIME = "out_of_time"


class StoppedBy(StrEnum):
    """What stopped a call.

    CONFIGURATION: there is no chat model. BUDGET, BREAKER, RATE: a guard refused it. PROVIDER: it failed. OUTPUT: the
    answer was of no use. DEADLINE: the caller's time was over.
    """

    CONFIGURATION = "configuration"
    BUDGET = "budget"
    BREAKER = "breaker"
    RATE = "rate"
    PROVIDER = "provider"
    OUTPUT = "output"
    DEADLINE = "deadline"


class OutputFault(StrEnum):
    """Why an answer was of no use; the `reason` with `StoppedBy.OUTPUT`.

    EMPTY: nothing was said. FILTERED: the provider withheld it, or the model refused. TOO_LONG: more than is taken.
    CUT_OFF: it was cut at `max_tokens`, and what there is cannot be used. INVALID_JSON: no JSON, not even repaired.
    WRONG_SHAPE: JSON, but not what was asked for.
    """

    EMPTY = "empty"
    FILTERED = "filtered"
    TOO_LONG = "too_long"
    CUT_OFF = "cut_off"
    INVALID_JSON = "invalid_json"
    WRONG_SHAPE = "wrong_shape"


_DETAILS = {
    StoppedBy.CONFIGURATION: "No chat model is configured.",
    StoppedBy.BUDGET: "The budget for models has no room for this call",
    StoppedBy.BREAKER: "The chat provider failed too often and is left alone for a while",
    StoppedBy.RATE: "The chat provider takes no more tokens for now",
    StoppedBy.PROVIDER: "The chat provider failed",
    StoppedBy.OUTPUT: "The model's answer cannot be used",
    StoppedBy.DEADLINE: "The call took longer than it may",
}


@dataclass(frozen=True, slots=True)
class Stop:
    """Why one provider gave no answer.

    reason: a code; of a provider's failure its ErrorKind. retryable: the same call may succeed later although nobody
    changes anything. retry_after_ms: when; None where nobody can say, or it is of no use.
    """

    by: StoppedBy
    reason: str
    provider: str = ""
    retryable: bool = False
    retry_after_ms: int | None = None

    @property
    def detail(self) -> str:
        """A sentence for people, without anything of the conversation."""
        said = _DETAILS[self.by]
        return said if said.endswith(".") else f"{said} ({self.reason})."


def select_soonest(stops: Iterable[Stop]) -> Stop:
    """The stop that goes away first: of those that may, the one with the shortest wait; else the first of all."""
    return min(stops, key=lambda stop: (not stop.retryable, stop.retry_after_ms or 0))


@dataclass(frozen=True, slots=True)
class Effort:
    """What a call took, all its attempts together. cost_usd: None where a price is unknown."""

    attempts: int = 0
    usage: Usage = field(default_factory=lambda: Usage(0, 0))
    cost_usd: Decimal | None = Decimal(0)
    latency_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class ChatAnswer(Generic[T_co]):
    """An answer.

    text: what the model said; of a JSON document that was repaired, the repaired one. value: an instance of the
    schema; without one the JSON document, or None where no JSON was expected. provider, model: who answered.
    is_cut: its end is missing; of a document, the last elements of a list. repairs: what was mended. effort: of the
    whole call.
    """

    text: str = field(repr=False)
    value: T_co = field(repr=False)
    provider: str
    model: str
    finish: FinishReason
    effort: Effort
    is_cut: bool = False
    repairs: tuple[Repair, ...] = ()

    @property
    def was_repaired(self) -> bool:
        return bool(self.repairs)


@dataclass(frozen=True, slots=True)
class ChatFailure:
    """No answer. stops: why, in the order in which it happened; never empty."""

    stops: tuple[Stop, ...]
    effort: Effort = field(default_factory=Effort)

    @property
    def stop(self) -> Stop:
        """The one that counts: the soonest to go away."""
        return select_soonest(self.stops)

    @property
    def stopped_by(self) -> StoppedBy:
        return self.stop.by

    @property
    def reason(self) -> str:
        return self.stop.reason

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later although nobody changes anything."""
        return self.stop.retryable

    @property
    def retry_after_ms(self) -> int | None:
        return self.stop.retry_after_ms

    @property
    def retry_after(self) -> int | None:
        """`retry_after_ms` in whole seconds, rounded up, as Retry-After wants it."""
        return None if self.retry_after_ms is None else -(-self.retry_after_ms // 1_000)

    @property
    def detail(self) -> str:
        """A sentence for people, without anything of the conversation."""
        return self.stop.detail


ChatResult = ChatAnswer[T] | ChatFailure


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """A piece of an answer while it comes in. answer: which one, from 1; a higher number than before means that what
    came before is void, because another attempt has begun.
    """

    text: str = field(repr=False)
    answer: int = 1
