"""What the guards of calls remember, shared by all processes (DESIGN section 6).

Written by `guards` only. Every moment in here is one of the clock that was handed in, never the server's.
"""

import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from apps.llm.domain.breaker import Phase
from apps.llm.models.fields import MAX_ACTOR_CHARS, MAX_MODEL_CHARS, MAX_PROVIDER_CHARS, money, optional_money


class BreakerPhase(models.TextChoices):
    """Whether calls to a provider pass."""

    CLOSED = Phase.CLOSED.value, "Closed"
    OPEN = Phase.OPEN.value, "Open"
    HALF_OPEN = Phase.HALF_OPEN.value, "Half-open"


class Breaker(models.Model):
    """The circuit breaker of one provider: `domain.breaker.BreakerState` in a row.

    A provider without a row has never failed. term: counts the changes of phase. attempts: pairs of a moment in
    milliseconds since the epoch and whether it failed. probes: pairs of a number and the moment of its start.
    """

    provider = models.CharField(max_length=MAX_PROVIDER_CHARS, primary_key=True)
    phase = models.CharField(max_length=10, choices=BreakerPhase.choices, default=BreakerPhase.CLOSED)
    changed_at = models.DateTimeField()
    term = models.BigIntegerField(default=0)
    attempts = models.JSONField(default=list)
    successful_probes = models.PositiveIntegerField(default=0)
    probes = models.JSONField(default=list)
    last_probe = models.PositiveIntegerField(default=0)

    class Meta:
        ordering: ClassVar[list[str]] = ["provider"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Only the half-open phase has probes: a row that says otherwise would let calls through for ever.
            models.CheckConstraint(
                name="llm_breaker_probes_half_open",
                condition=Q(phase=BreakerPhase.HALF_OPEN) | Q(probes=[], successful_probes=0, last_probe=0),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider}: {self.get_phase_display().lower()}"


class BreakerChange(models.Model):
    """A change of phase of a circuit breaker, kept as long as records of calls. actor: who reset it, else blank."""

    provider = models.CharField(max_length=MAX_PROVIDER_CHARS)
    phase = models.CharField(max_length=10, choices=BreakerPhase.choices)
    previous = models.CharField(max_length=10, choices=BreakerPhase.choices)
    actor = models.CharField(max_length=MAX_ACTOR_CHARS, blank=True, default="")
    changed_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar[list[str]] = ["-changed_at", "-id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # What did not change would be a state without an end.
            models.CheckConstraint(name="llm_breaker_change_changes", condition=~Q(phase=F("previous"))),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # The line of states, and the removal of old ones.
            models.Index(name="llm_breaker_change_newest", fields=["-changed_at", "-id"]),
        ]

    def __str__(self) -> str:
        return f"{self.provider}: {self.get_phase_display().lower()}"


class BudgetDay(models.Model):
    """What was spent on models in one day of UTC, and under which budget.

    limit: the budget when the row was last written, none when there was no budget. waived: how much of `spent` does
    not count any more since an operator reset the budget; what was spent stays on record. warned: the thresholds, in
    percent, that were reached. What is reserved is the sum of the open `reservations`.
    """

    day = models.DateField(primary_key=True)
    limit_usd = optional_money()
    spent_usd = money(default=0)
    waived_usd = money(default=0)
    warned = ArrayField(models.PositiveSmallIntegerField(), default=list)
    reset_by = models.CharField(max_length=MAX_ACTOR_CHARS, blank=True, default="")
    reset_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-day"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # No bug may make room in a budget by taking away what was spent.
            models.CheckConstraint(
                name="llm_budget_day_amounts",
                condition=Q(waived_usd__gte=0) & Q(spent_usd__gte=F("waived_usd")),
            ),
        ]

    def __str__(self) -> str:
        return self.day.isoformat()


class BudgetReservation(models.Model):
    """Money set aside for one call under way. Settling or releasing it removes the row.

    From `expires_at` on it does not count any more, so a killed process does not hold money for ever. The row stays for
    a while all the same: it can still be settled, and it says that its money may have been spent.
    """

    # Not a sequence: after a crash of the server a number could be used again (docs/decisions/0016).
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    day = models.ForeignKey(BudgetDay, on_delete=models.CASCADE, related_name="reservations", db_index=False)
    amount_usd = money()
    reserved_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # A negative reservation would be money out of nothing.
            models.CheckConstraint(name="llm_budget_reservation_amount", condition=Q(amount_usd__gte=0)),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # What counts in a day, added up for every call.
            models.Index(name="llm_budget_reservation_open", fields=["day", "expires_at"]),
            # What can be swept away.
            models.Index(name="llm_budget_reservation_expiry", fields=["expires_at"]),
        ]

    def __str__(self) -> str:
        return f"{self.amount_usd} on {self.day_id}"


class TokenUse(models.Model):
    """The tokens of one call: what it may use while it is under way, and what it did use once `settled_at` is set.

    The limit is the provider's, so calls to all its models count together. An open row counts until `expires_at`, a
    settled one until it has left the window of a minute.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    provider = models.CharField(max_length=MAX_PROVIDER_CHARS)
    model = models.CharField(max_length=MAX_MODEL_CHARS)
    tokens = models.BigIntegerField()
    reserved_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "token use"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # A negative use would be room out of nothing.
            models.CheckConstraint(name="llm_token_use_tokens", condition=Q(tokens__gte=0)),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # What counts of a provider (rows under way have no `settled_at`), read for every call.
            models.Index(name="llm_token_use_window", fields=["provider", "settled_at"]),
            # What can be swept away.
            models.Index(name="llm_token_use_expiry", fields=["expires_at"]),
        ]

    def __str__(self) -> str:
        return f"{self.tokens} tokens of {self.model}"
