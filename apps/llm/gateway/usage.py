"""What a call took so far, and what is written down of it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from apps.core.domain.latency import monotonic_ms
from apps.llm.domain.answers import Expectation
from apps.llm.domain.chat import ChatRequest, Usage
from apps.llm.domain.outcome import AnswerPiece, ChatAnswer, ChatFailure, ChatResult, Effort, StoppedBy
from apps.llm.guards.attempts import Permit
from apps.llm.guards.calls import CallContent, CallRecord
from apps.llm.models import CallGuard, CallOutcome

ABANDONED = "abandoned"
_GUARDS = {
    StoppedBy.BUDGET: CallGuard.BUDGET,
    StoppedBy.BREAKER: CallGuard.BREAKER,
    StoppedBy.RATE: CallGuard.RATE,
}


@dataclass(frozen=True, kw_only=True)
class Order:
    """Who wants what; see `chat`."""

    actor: str
    purpose: str
    request: ChatRequest
    expected: Expectation
    on_piece: Callable[[AnswerPiece], None] | None = None


@dataclass
class Tally:
    """Adds up the attempts of one call.

    started_at: by the Clock. uses: tokens and cost of each attempt that is over. said: of the last one, with the
    question that it answers. failure: the code of the last one that failed.
    """

    order: Order
    started_at: int
    keeps_content: bool = False
    attempts: int = 0
    uses: dict[int, tuple[Usage, Decimal | None]] = field(default_factory=dict)
    provider: str = ""
    model: str = ""
    asked: ChatRequest | None = field(default=None, repr=False)
    said: str = field(default="", repr=False)
    failure: str = ""
    _began: float = field(default_factory=monotonic_ms)

    def begin(self, permit: Permit, request: ChatRequest) -> None:
        """Another attempt begins."""
        self.attempts += 1
        self.provider, self.model = permit.plan.provider, permit.plan.model
        self.asked, self.said = request, ""

    def end(self, permit: Permit, usage: Usage | None, said: str) -> None:
        """The attempt that was begun last is over."""
        used = usage or Usage(0, 0)
        self.uses[self.attempts] = (used, permit.cost(used))
        self.said = said

    def effort(self) -> Effort:
        """Everything so far."""
        usages = [usage for usage, _ in self.uses.values()]
        costs = [cost for _, cost in self.uses.values()]
        known = [cost for cost in costs if cost is not None]
        return Effort(
            attempts=self.attempts,
            usage=Usage(
                sum(usage.input_tokens for usage in usages),
                sum(usage.output_tokens for usage in usages),
                estimated=any(usage.estimated for usage in usages),
            ),
            cost_usd=sum(known, Decimal(0)) if len(known) == len(costs) else None,
            latency_ms=monotonic_ms() - self._began,
        )

    def record(self, result: "ChatResult[object] | None") -> CallRecord:
        """What is written down; None for a call that its caller abandoned."""
        effort, (outcome, guard, reason) = self.effort(), self._outcome(result)
        return CallRecord(
            actor=self.order.actor,
            purpose=self.order.purpose,
            outcome=outcome,
            guard=guard,
            reason=reason,
            provider=self.provider,
            model=self.model,
            usage=effort.usage,
            cost_usd=effort.cost_usd,
            attempts=effort.attempts,
            latency_ms=effort.latency_ms,
            started_at=self.started_at,
            content=self._content(),
        )

    def _outcome(self, result: "ChatResult[object] | None") -> tuple[CallOutcome, CallGuard | None, str]:
        match result:
            case None:
                return CallOutcome.FAILED, None, ABANDONED
            case ChatAnswer():
                return CallOutcome.SUCCEEDED, None, self.failure if result.is_cut else ""
            case ChatFailure() if result.stopped_by is StoppedBy.OUTPUT:
                return CallOutcome.UNUSABLE, None, result.reason
            case ChatFailure() if not self.attempts and result.stopped_by in _GUARDS:
                return CallOutcome.REFUSED, _GUARDS[result.stopped_by], result.reason
            case ChatFailure():
                return CallOutcome.FAILED, None, self.failure or result.reason

    def _content(self) -> CallContent | None:
        if not self.keeps_content or self.asked is None:
            return None
        messages = [{"role": message.role.value, "content": message.content} for message in self.asked.messages]
        asked = {"system": self.asked.instructions, "messages": messages}
        return CallContent(json.dumps(asked, ensure_ascii=False), self.said)
