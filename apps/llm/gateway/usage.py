"""What a call has used so far, and its record."""

import json
from dataclasses import dataclass, field
from decimal import Decimal

from apps.core.domain.latency import monotonic_ms
from apps.llm.domain.chat import ChatRequest, Usage
from apps.llm.domain.outcome import ChatAnswer, ChatFailure, ChatResult, Effort, StoppedBy
from apps.llm.gateway.context import CallRequest
from apps.llm.guards.attempts import Permit
from apps.llm.guards.calls import CallContent, CallRecord
from apps.llm.models import CallGuard, CallOutcome

ABANDONED = "abandoned"
GUARDS = {
    StoppedBy.BUDGET: CallGuard.BUDGET,
    StoppedBy.BREAKER: CallGuard.BREAKER,
    StoppedBy.RATE: CallGuard.RATE,
}


@dataclass
class CallUsage:
    """Adds up the attempts of one call.

    started_at: by the Clock. uses: tokens and cost of each finished attempt. answer: of the last attempt, with the
    question that it answers. failure: the code of the last failed attempt.
    """

    request: CallRequest
    started_at: int
    keeps_content: bool = False
    attempts: int = 0
    uses: dict[int, tuple[Usage, Decimal | None]] = field(default_factory=dict)
    provider: str = ""
    model: str = ""
    question: ChatRequest | None = field(default=None, repr=False)
    answer: str = field(default="", repr=False)
    failure: str = ""
    began_ms: float = field(default_factory=monotonic_ms)

    def begin(self, permit: Permit, question: ChatRequest) -> None:
        """Begin another attempt."""
        self.attempts += 1
        self.provider, self.model = permit.plan.provider, permit.plan.model
        self.question, self.answer = question, ""

    def end(self, permit: Permit, usage: Usage | None, answer: str) -> None:
        """End the attempt that was begun last."""
        used = usage or Usage(0, 0)
        self.uses[self.attempts] = (used, permit.cost(used))
        self.answer = answer

    def effort(self) -> Effort:
        """Return the sum of everything so far."""
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
            latency_ms=monotonic_ms() - self.began_ms,
        )

    def record(self, result: "ChatResult[object] | None") -> CallRecord:
        """Return the record of the call; of None: that its caller abandoned it."""
        effort, (outcome, guard, reason) = self.effort(), self.outcome_of(result)
        content = None
        if self.keeps_content and self.question is not None:
            messages = [{"role": message.role.value, "content": message.content} for message in self.question.messages]
            prompt = {"system": self.question.instructions, "messages": messages}
            content = CallContent(json.dumps(prompt, ensure_ascii=False), self.answer)
        return CallRecord(
            actor=self.request.actor,
            purpose=self.request.purpose,
            user_id=self.request.user_id,
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
            content=content,
        )

    def outcome_of(self, result: "ChatResult[object] | None") -> tuple[CallOutcome, CallGuard | None, str]:
        """Return how the call ended, which guard refused it, and the reason."""
        match result:
            case None:
                return CallOutcome.FAILED, None, ABANDONED
            case ChatAnswer():
                return CallOutcome.SUCCEEDED, None, self.failure if result.is_cut else ""
            case ChatFailure() if result.stopped_by is StoppedBy.OUTPUT:
                return CallOutcome.UNUSABLE, None, result.reason
            case ChatFailure() if not self.attempts and result.stopped_by in GUARDS:
                return CallOutcome.REFUSED, GUARDS[result.stopped_by], result.reason
            case ChatFailure():
                return CallOutcome.FAILED, None, self.failure or result.reason
