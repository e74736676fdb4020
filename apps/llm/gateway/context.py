"""What a call through the gateway is given: who wants what, the rules, and how long and how often to try."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from django.conf import settings
from django.db import connections

from apps.core.domain.clock import Clock
from apps.core.domain.randomness import RNG
from apps.llm.domain.answers import Expectation
from apps.llm.domain.chat import ChatRequest
from apps.llm.domain.outcome import AnswerPiece
from apps.llm.domain.retry import DEFAULT_RETRY_POLICY, CallRetryPolicy
from apps.llm.domain.stream_assembly import DEFAULT_ASSEMBLY_CONFIG, AssemblyConfig
from apps.llm.guards.rules import GuardRules

DEADLINE_MS = 600_000
PATIENCE_MS = 2_000
CORRECTIONS = 1
RESERVATION_MARGIN_MS = 5_000
"""What is left of a reservation when an attempt must be over, for settling it."""


@dataclass(frozen=True)
class GatewayPolicy:
    """retry: of one provider. deadline_ms: of a whole call, with all its tries and waits.

    patience_ms: the longest pause that a provider is granted while there is another one to ask. corrections: how often
    a model is asked again with what is wrong with its answer. assembly: the limits of an answer.
    """

    retry: CallRetryPolicy = DEFAULT_RETRY_POLICY
    deadline_ms: int = DEADLINE_MS
    patience_ms: int = PATIENCE_MS
    corrections: int = CORRECTIONS
    assembly: AssemblyConfig = DEFAULT_ASSEMBLY_CONFIG

    def retry_of(self, *, is_last: bool) -> CallRetryPolicy:
        """Return the retries of one provider; `is_last`: there is no other to ask after it."""
        if is_last:
            return self.retry
        return replace(self.retry, max_retry_after_ms=min(self.retry.max_retry_after_ms, self.patience_ms))


def gateway_policy() -> GatewayPolicy:
    """Return the policy of the settings."""
    config = settings.MEMORYHUB.chat
    return GatewayPolicy(
        retry=replace(DEFAULT_RETRY_POLICY, max_attempts=config.max_tries),
        deadline_ms=round(config.deadline_seconds * 1_000),
        corrections=config.corrections,
    )


@dataclass(frozen=True, kw_only=True)
class CallRequest:
    """Who wants what; see `chat`."""

    actor: str
    purpose: str
    user_id: str = ""
    question: ChatRequest
    expected: Expectation
    on_piece: Callable[[AnswerPiece], None] | None = None


@dataclass(frozen=True, kw_only=True)
class CallContext:
    """What applies to a call, whatever is asked. sleep: wait, in seconds."""

    rules: GuardRules
    policy: GatewayPolicy
    clock: Clock
    rng: RNG
    sleep: Callable[[float], None]


def is_in_transaction() -> bool:
    """Return whether a transaction is open, which a model would hold open for as long as it thinks."""
    return any(
        # Django's tests run in transactions of their own, as `atomic(durable=True)` knows.
        one.atomic_blocks and not getattr(one.atomic_blocks[-1], "_from_testcase", False)
        for one in connections.all(initialized_only=True)
    )
