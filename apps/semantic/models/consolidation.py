"""Consolidations: where to look for conflicts among stored memories, and the progress of each."""

from __future__ import annotations

from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Scope

MAX_NAME_CHARS = 100
ACTOR_PREFIX = "consolidation:"
# Highest value of each bound. A run must end before django-q2 takes its worker for lost (`Q_CLUSTER["timeout"]`).
MAX_MEMORIES, MAX_DECISIONS, MAX_SECONDS = 10_000, 1_000, 300


class ConsolidationMode(models.TextChoices):
    """What is done about a conflict that is found."""

    NOTICE = "notice", "Notice only"
    DECIDE = "decide", "Decide by the rules"


def identifier_field(what: str) -> models.CharField[str, str]:
    help_text = f"Look only at memories of this {what}. Empty: of every {what}, and those without one."
    return models.CharField(what, max_length=MAX_IDENTIFIER_CHARS, blank=True, default="", help_text=help_text)


def bound_field(default: int, highest: int, help_text: str) -> models.PositiveIntegerField[int, int]:
    limits = [MinValueValidator(1), MaxValueValidator(highest)]
    return models.PositiveIntegerField(default=default, validators=limits, help_text=help_text)


class Consolidation(models.Model):
    """Where to look for conflicts among stored memories, what to do about them, and the progress.

    Written by `consolidation.services` and `.run` only. cursor: the id of the last memory that was compared; it
    moves in the same transaction as what was decided, so nothing is decided twice or left out, whatever is killed.
    epoch: raised whenever a person changes where or how to look; a run that began before then steps aside. mark: which
    rules and vectors the present pass began with; a finished pass is repeated when they are others.
    """

    name = models.CharField(
        max_length=MAX_NAME_CHARS,
        unique=True,
        help_text="Receipts and histories refer to it, so it cannot be changed.",
    )
    user_id = models.CharField(
        "user",
        max_length=MAX_IDENTIFIER_CHARS,
        blank=True,
        default="",
        help_text="Only compare memories of this user. Leave empty for all users.",
    )
    household_id = identifier_field("household")
    persona_id = identifier_field("persona")
    enabled = models.BooleanField(
        default=False, help_text="Let the schedule run it. Switching it off stops a run at its next memory."
    )
    mode = models.CharField(
        max_length=10,
        choices=ConsolidationMode.choices,
        default=ConsolidationMode.NOTICE,
        help_text="Notice only: receipts to review, and all memories stay active. Decide: the merge rules are "
        "applied as when a memory is saved; every decision can be reverted.",
    )
    max_memories = bound_field(500, MAX_MEMORIES, "Maximum memories compared per run.")
    max_decisions = bound_field(
        50,
        MAX_DECISIONS,
        "Maximum receipts written per run: it limits what a wrong rule can do before a person reviews it.",
    )
    max_seconds = bound_field(60, MAX_SECONDS, "Maximum seconds per run, plus the time for the current memory.")

    cursor = models.BigIntegerField(default=0, editable=False)
    epoch = models.PositiveIntegerField(default=0, editable=False)
    mark = models.CharField(max_length=100, blank=True, default="", editable=False)
    is_complete = models.BooleanField(default=True, editable=False)
    passes = models.PositiveIntegerField("passes completed", default=0, editable=False)
    looked_at = models.PositiveBigIntegerField(default=0, editable=False)
    noticed = models.PositiveBigIntegerField(default=0, editable=False)
    decided = models.PositiveBigIntegerField(default=0, editable=False)
    last_run_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_run_seconds = models.FloatField(null=True, blank=True, editable=False)
    last_error = models.CharField(max_length=300, blank=True, default="", editable=False)

    class Meta:
        ordering: ClassVar[list[str]] = ["name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # A run without an end, or one that django-q2 takes for lost, must not be possible.
            models.CheckConstraint(
                name="semantic_consolidation_bounds",
                condition=Q(max_memories__range=(1, MAX_MEMORIES))
                & Q(max_decisions__range=(1, MAX_DECISIONS))
                & Q(max_seconds__range=(1, MAX_SECONDS)),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def scope(self) -> Scope:
        """Return where it looks: among memories that match every identifier that is named."""
        return Scope(self.user_id or None, self.household_id or None, self.persona_id or None)

    @property
    def actor(self) -> str:
        """Return its name in receipts and histories."""
        return f"{ACTOR_PREFIX}{self.name}"
