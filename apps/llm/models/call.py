"""Calls to chat models that were made or refused."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from apps.core.domain.scope import MAX_IDENTIFIER_CHARS
from apps.llm.models.fields import (
    MAX_ACTOR_CHARS,
    MAX_MODEL_CHARS,
    MAX_PROVIDER_CHARS,
    MAX_REASON_CHARS,
    optional_money,
)

MAX_PURPOSE_CHARS = 100


class CallOutcome(models.TextChoices):
    """How a call ended. refused: by a guard, before it was made. unusable: answered, but with nothing of use."""

    SUCCEEDED = "succeeded", "Succeeded"
    REFUSED = "refused", "Refused"
    FAILED = "failed", "Failed"
    UNUSABLE = "unusable", "Unusable answer"


class CallGuard(models.TextChoices):
    """What may refuse a call, in the order in which they are asked."""

    BUDGET = "budget", "Budget"
    BREAKER = "breaker", "Circuit breaker"
    RATE = "rate", "Token rate"


class ModelCall(models.Model):
    """One call through the gateway, with all its attempts.

    provider, model: of the last attempt. tokens: of all attempts; estimated where the provider did not say. cost: null
    when the model has no price. reason: a code, never a text of the provider. prompt and answer are kept only while the
    operator has that turned on (`MEMORYHUB_CHAT_KEEP_CONTENT`). Written once, by `guards.calls`.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    actor = models.CharField(max_length=MAX_ACTOR_CHARS)
    user_id = models.CharField(
        "user", max_length=MAX_IDENTIFIER_CHARS, blank=True, default="", help_text="Whose memories it was about."
    )
    purpose = models.CharField(max_length=MAX_PURPOSE_CHARS)
    provider = models.CharField(max_length=MAX_PROVIDER_CHARS, blank=True)
    model = models.CharField(max_length=MAX_MODEL_CHARS, blank=True)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    is_estimated = models.BooleanField("tokens estimated", default=False)
    cost_usd = optional_money()
    latency_ms = models.FloatField()
    attempts = models.PositiveSmallIntegerField(default=0)
    outcome = models.CharField(max_length=10, choices=CallOutcome.choices)
    guard = models.CharField(max_length=8, choices=CallGuard.choices, blank=True, default="")
    reason = models.CharField(max_length=MAX_REASON_CHARS, blank=True, default="")
    started_at = models.DateTimeField()
    prompt = models.TextField(null=True)
    answer = models.TextField(null=True)

    class Meta:
        verbose_name = "model call"
        ordering: ClassVar[list[str]] = ["-started_at", "-id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # "Which guard stopped it" must have an answer for refused calls, and for no others.
            models.CheckConstraint(
                name="llm_call_guard_of_refused",
                condition=(Q(outcome=CallOutcome.REFUSED) & ~Q(guard=""))
                | (~Q(outcome=CallOutcome.REFUSED) & Q(guard="")),
            ),
            models.CheckConstraint(name="llm_call_cost", condition=Q(cost_usd__isnull=True) | Q(cost_usd__gte=0)),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Lists, charts, and the removal of old ones.
            models.Index(name="llm_call_newest", fields=["-started_at", "-id"]),
            # What one model did.
            models.Index(name="llm_call_of_model", fields=["provider", "model", "-started_at"]),
            # What went wrong, without the many that did not.
            models.Index(name="llm_call_not_succeeded", fields=["-started_at"], condition=~Q(outcome="succeeded")),
        ]

    def __str__(self) -> str:
        return str(self.uuid)
