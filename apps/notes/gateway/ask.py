"""One question of notes to the chat model that a person chose, and what came of it.

A model that cannot be asked, or whose answer is of no use, is no error: the code of the reason is recorded, and the
step goes on without a model.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Any, TypeVar

from pydantic import BaseModel

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.randomness import RNG, SYSTEM_RNG
from apps.llm.domain.chat import ChatProvider, ChatRequest
from apps.llm.domain.outcome import ChatFailure, Effort
from apps.llm.services import ChosenModel, GatewayPolicy, chat, gateway_policy, model_choose

M = TypeVar("M", bound=BaseModel)

# Codes of our own; the others are the reasons of the gateway.
DISABLED = "disabled"
NOT_AVAILABLE = "model_not_available"
NOTHING_TO_READ = "nothing_to_read"
NO_SUCH_MODEL = "No configured chat provider has this model."
MAX_NAME_CHARS = 200


@dataclass(frozen=True)
class Asking:
    """Who asks, and how. user_id: whose notes. actor: who wanted it. deadline_ms: of a call with all its attempts.

    providers: None for those of the settings. sleep: in seconds.
    """

    user_id: str
    actor: str
    deadline_ms: int = 120_000
    providers: Sequence[ChatProvider] | None = None
    clock: Clock = SYSTEM_CLOCK
    rng: RNG = SYSTEM_RNG
    sleep: Callable[[float], None] = time.sleep

    def choose(self, name: str) -> ChosenModel | None:
        """Return the model of a name; None where no provider has it."""
        return model_choose(name, self.providers)

    def policy(self) -> GatewayPolicy:
        """Return how long and how often to try."""
        policy = gateway_policy()
        return replace(policy, deadline_ms=min(policy.deadline_ms, self.deadline_ms))


@dataclass(frozen=True)
class ModelUse:
    """What was asked of a model, and what it took.

    asked: the model that was chosen. provider, model: who answered. code: why there is no answer, empty where there is
    one: of the gateway's reasons, such as `budget_exceeded`, `open`, `timeout`, `cut_off`, or one of this module.
    stopped_by: what stopped the call, empty where there was none. cost_usd: None where a price is unknown.
    """

    asked: str
    provider: str = ""
    model: str = ""
    code: str = ""
    stopped_by: str = ""
    detail: str = ""
    cost_usd: Decimal | None = Decimal(0)
    attempts: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return it for a record; the cost as decimal text."""
        return {**asdict(self), "cost_usd": None if self.cost_usd is None else str(self.cost_usd)}

    def with_effort(self, effort: Effort) -> "ModelUse":
        """Return it with what a call took in addition."""
        both = None
        if self.cost_usd is not None and effort.cost_usd is not None:
            both = self.cost_usd + effort.cost_usd
        return replace(self, cost_usd=both, attempts=self.attempts + effort.attempts)

    def answered(self, provider: str, model: str) -> "ModelUse":
        """Return it with who answered."""
        return replace(self, provider=provider[:MAX_NAME_CHARS], model=model[:MAX_NAME_CHARS])

    def failed(self, failure: ChatFailure) -> "ModelUse":
        """Return it with why there is no answer."""
        stopped_by = failure.stopped_by.value
        return replace(self, code=failure.reason[:MAX_NAME_CHARS], stopped_by=stopped_by, detail=failure.detail)

    def refused(self, code: str, detail: str) -> "ModelUse":
        """Return it for a model that was not asked at all."""
        return replace(self, code=code, detail=detail)


def ask_model(
    asking: Asking, use: ModelUse, purpose: str, request: ChatRequest, schema: type[M]
) -> tuple[M | None, ModelUse]:
    """Put a request to the model of `use.asked`. Return its answer, None where there is none, and `use` with this call.

    A whole answer or none: of one that was cut nothing is used. Raises OpenTransactionError inside a transaction.
    """
    chosen = asking.choose(use.asked)
    if chosen is None:
        return None, use.refused(NOT_AVAILABLE, NO_SUCH_MODEL)
    result = chat(
        actor=asking.actor,
        purpose=purpose,
        user_id=asking.user_id,
        request=chosen.ask(request),
        schema=schema,
        providers=(chosen.provider,),
        policy=asking.policy(),
        clock=asking.clock,
        rng=asking.rng,
        sleep=asking.sleep,
    )
    use = use.with_effort(result.effort)
    if isinstance(result, ChatFailure):
        return None, use.failed(result)
    return result.value, use.answered(result.provider, result.model)
