"""Removing what the guards need no more. Nothing waits for it: what has expired has stopped counting by itself."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.llm.guards.budgets import budget_show
from apps.llm.guards.rules import guard_rules
from apps.llm.models import BudgetReservation, ModelCall, TokenUse

# An expired reservation may still be settled, and says that its money may have been spent.
KEPT_AFTER_EXPIRY = timedelta(days=1)
BATCH = 1_000


@dataclass(frozen=True)
class Swept:
    """How many rows were removed. lost: reservations of money that nobody ever settled."""

    lost: int
    token_uses: int
    calls: int


def guards_sweep(*, clock: Clock = SYSTEM_CLOCK, batch: int = BATCH) -> Swept:
    """Remove expired reservations and token uses a day later, and records of calls after their retention.

    Also has the metrics say what is spent of today's budget: after midnight maybe nobody spends anything for hours.
    """
    now = utcnow(clock)
    budget_show(rules=guard_rules(), clock=clock)
    lost, _ = BudgetReservation.objects.filter(expires_at__lt=now - KEPT_AFTER_EXPIRY).delete()
    uses, _ = TokenUse.objects.filter(expires_at__lt=now - KEPT_AFTER_EXPIRY).delete()
    return Swept(lost, uses, _trim_calls(now - timedelta(days=settings.MEMORYHUB.guards.call_retention_days), batch))


def _trim_calls(before: datetime, batch: int) -> int:
    """Each batch is a transaction of its own."""
    removed = 0
    old = ModelCall.objects.filter(started_at__lt=before).order_by("started_at")
    while ids := list(old.values_list("pk", flat=True)[:batch]):
        removed += ModelCall.objects.filter(pk__in=ids).delete()[0]
    return removed
