"""Events of the guards of calls to chat models."""

from typing import ClassVar

from apps.events.domain.payload import EventPayload, Moment, Text
from apps.llm.domain.breaker import Phase


class BudgetThresholdReached(EventPayload):
    """Spending reached a share of the day's budget: 70, 90 or 100 percent, once a day each.

    day: of UTC, in ISO 8601. spent_usd, budget_usd: as decimal text, since a float would round them.
    """

    name: ClassVar[str] = "llm:budget:threshold_reached"
    threshold: int
    day: Text
    spent_usd: Text
    budget_usd: Text
    at: Moment


class BreakerChanged(EventPayload):
    """The circuit breaker of a provider opened, half-opened or closed."""

    name: ClassVar[str] = "llm:breaker:changed"
    provider: Text
    phase: Phase
    previous: Phase
    actor: Text | None
    at: Moment
