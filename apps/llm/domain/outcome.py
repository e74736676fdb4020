"""The outcome of a call through the gateway: an answer, or what stopped it (DESIGN D11).

Everything that can be expected to go wrong is a ChatFailure, never an exception.
"""

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
    answer cannot be used. DEADLINE: the caller's time was over.
    """

    CONFIGURATION = "configuration"
    BUDGET = "budget"
    BREAKER = "breaker"
    RATE = "rate"
    PROVIDER = "provider"
    OUTPUT = "output"
    DEADLINE = "deadline"


class OutputFault(StrEnum):
    """Why an answer cannot be used; the `reason` with `StoppedBy.OUTPUT`.

    EMPTY: it has no text. FILTERED: the provider withheld it, or the model refused. TOO_LONG: more than is accepted.
    CUT_OFF: it was cut at `max_tokens`, and the rest cannot be used. INVALID_JSON: no JSON, not even repaired.
    WRONG_SHAPE: JSON, but not of the schema.
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
    StoppedBy.BREAKER: "The chat provider failed too often; calls are paused",
    StoppedBy.RATE: "The chat provider takes no more tokens for now",
    StoppedBy.PROVIDER: "The chat provider failed",
    StoppedBy.OUTPUT: "The model's answer cannot be used",
    StoppedBy.DEADLINE: "The call took longer than it may",
}


@dataclass(frozen=True, slots=True)
class Stop:
    """Why one provider did not answer.

    reason: a code; of a provider's failure its ErrorKind. retryable: the same call may succeed later without
    any change. retry_after_ms: when; None where that is unknown, or a retry is of no use.
    """

    by: StoppedBy
    reason: str
    provider: str = ""
    retryable: bool = False
    retry_after_ms: int | None = None

    @property
    def detail(self) -> str:
        """Return a sentence for people, without anything of the conversation."""
        text = _DETAILS[self.by]
        return text if text.endswith(".") else f"{text} ({self.reason})."


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

    text: the model's; of a JSON document that was repaired, the repaired one. value: an instance of the
    schema; without one the JSON document, or None where no JSON was expected. provider, model: who answered.
    is_cut: its end is missing; of a document, the last elements of a list. repairs: of the document. effort: of the
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
        """Return whether the document was repaired."""
        return bool(self.repairs)


@dataclass(frozen=True, slots=True)
class ChatFailure:
    """No answer. stops: why, in the order in which it happened; never empty."""

    stops: tuple[Stop, ...]
    effort: Effort = field(default_factory=Effort)

    @property
    def stop(self) -> Stop:
        """Return the stop that counts: the retryable one with the shortest wait, else the first of all."""
        return min(self.stops, key=lambda stop: (not stop.retryable, stop.retry_after_ms or 0))

    @property
    def stopped_by(self) -> StoppedBy:
        """Return what stopped the call."""
        return self.stop.by

    @property
    def reason(self) -> str:
        """Return the code of the reason."""
        return self.stop.reason

    @property
    def retryable(self) -> bool:
        """Return whether the same call may succeed later without any change."""
        return self.stop.retryable

    @property
    def retry_after_ms(self) -> int | None:
        """Return after how long a retry makes sense."""
        return self.stop.retry_after_ms

    @property
    def retry_after(self) -> int | None:
        """Return `retry_after_ms` in whole seconds, rounded up, as for Retry-After."""
        return None if self.retry_after_ms is None else -(-self.retry_after_ms // 1_000)

    @property
    def detail(self) -> str:
        """Return a sentence for people, without anything of the conversation."""
        return self.stop.detail


ChatResult = ChatAnswer[T] | ChatFailure


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """A piece of an answer while it comes in. answer: which one, from 1; a higher number than before means that what
    came before is void, because another attempt has begun.
    """

    text: str = field(repr=False)
    answer: int = 1
