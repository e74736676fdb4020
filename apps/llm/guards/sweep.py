"""Remove what the guards need no more. Nothing waits for it: what has expired does not count."""

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.llm.guards.budgets import budget_observe
from apps.llm.guards.rules import guard_rules
from apps.llm.models import BreakerChange, BudgetReservation, ModelCall, TokenUse

# An expired reservation may still be settled, and says that its money may have been spent.
KEPT_AFTER_EXPIRY = timedelta(days=1)
BATCH = 1_000


@dataclass(frozen=True)
class SweptRows:
    """How many rows were removed. lost: reservations of money that were never settled."""

    lost: int
    token_uses: int
    calls: int


def guards_sweep(*, clock: Clock = SYSTEM_CLOCK, batch: int = BATCH) -> SweptRows:
    """Remove expired reservations and token uses a day later, and records of calls and changes of breakers after their
    retention.

    Also sets the metric of today's budget: after midnight there may be no settlement for hours. Calls are removed in
    batches, each in a transaction of its own.
    """
    now = utcnow(clock)
    budget_observe(rules=guard_rules(), clock=clock)
    lost, _ = BudgetReservation.objects.filter(expires_at__lt=now - KEPT_AFTER_EXPIRY).delete()
    uses, _ = TokenUse.objects.filter(expires_at__lt=now - KEPT_AFTER_EXPIRY).delete()
    before = now - timedelta(days=settings.MEMORYHUB.guards.call_retention_days)
    old, calls = ModelCall.objects.filter(started_at__lt=before).order_by("started_at"), 0
    BreakerChange.objects.filter(changed_at__lt=before).delete()
    while ids := list(old.values_list("pk", flat=True)[:batch]):
        calls += ModelCall.objects.filter(pk__in=ids).delete()[0]
    return SweptRows(lost, uses, calls)
