"""Rules and times that the tests of guards share."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from apps.core.domain.clock import DeterministicClock
from apps.llm.domain.budget import Budget
from apps.llm.guards.rules import GuardRules

MINUTE, DAY = 60_000, 86_400_000
MIDNIGHT = int(datetime(2026, 11, 21, tzinfo=UTC).timestamp()) * 1_000
NOON = MIDNIGHT + DAY // 2
CENT = Decimal("0.01")


def rules(budget: int | str = 10, **options: Any) -> GuardRules:
    """Ten dollars a day, unless another amount is given; the spec's numbers for the rest."""
    return GuardRules(budget=Budget(Decimal(budget)), **options)


def noon() -> DeterministicClock:
    return DeterministicClock(NOON)
