"""Receipts: what was decided about two memories that disagree, and everything needed to explain and to revert it."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Scope
from apps.rules.domain.documents.rule import MAX_NAME_CHARS
from apps.semantic.domain.review_queue import WEAK_CONFIDENCE
from apps.semantic.models.memory import Memory
from apps.semantic.querysets import ConflictQuerySet


class Origin(models.TextChoices):
    """What led to a decision."""

    SAVE = "save", "Saving a memory"
    CONSOLIDATION = "consolidation", "Consolidation"
    JUDGE = "judge", "A chat model's verdict"
    OVERRIDE = "override", "A person's decision"
    REVERT = "revert", "Undoing a decision"


# What rules decided, not a person.
BY_RULES = (Origin.SAVE, Origin.CONSOLIDATION, Origin.JUDGE)


class ConflictOutcome(models.TextChoices):
    """What was decided. noticed: nothing, because the evidence was weak, so both memories stay active."""

    NOTICED = "noticed", "Noticed"
    SUPERSEDED_EXISTING = "superseded_existing", "Superseded existing"
    KEPT_EXISTING = "kept_existing", "Kept existing"
    MERGED = "merged", "Merged"
    REJECTED = "rejected", "Rejected"
    KEPT_BOTH = "kept_both", "Kept both"
    REVERTED = "reverted", "Reverted"


# What a person is asked about while it is open: nothing was decided, or on weak grounds. The rest is a log.
IS_ASKED = Q(outcome=ConflictOutcome.NOTICED) | Q(confidence__lte=WEAK_CONFIDENCE)


class ReviewState(models.TextChoices):
    """The state of a receipt; open and accepted ones are in force. outdated: a memory of it has other words now."""

    OPEN = "open", "Open"
    ACCEPTED = "accepted", "Accepted"
    OVERRIDDEN = "overridden", "Overridden"
    REVERTED = "reverted", "Reverted"
    OUTDATED = "outdated", "Outdated"


class Conflict(models.Model):
    """The receipt of one decision (DESIGN D3). Written by `services` only; nothing in it is changed but its review.

    candidate: the memory that was saved, or the later one. existing: the one that was stored before, in the most severe
    conflict of several. result: what is active since then; none where both are. The signals, `records` and `others`
    are as they were when it was decided. transitions: every row that was changed, with its state before and after
    (`domain.state`). about: the receipt that this one reverts or overrides, or the notice that a model judged.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    household_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="")
    persona_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="")
    origin = models.CharField(max_length=16, choices=Origin.choices)
    outcome = models.CharField(max_length=24, choices=ConflictOutcome.choices)
    state = models.CharField(max_length=12, choices=ReviewState.choices, default=ReviewState.OPEN)
    candidate = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="conflicts_as_candidate")
    existing = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="conflicts_as_existing")
    result = models.ForeignKey(Memory, null=True, on_delete=models.CASCADE, related_name="+")
    about = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="answers")
    about_state = models.CharField(max_length=12, blank=True, default="", help_text="The state of `about` before.")
    about_reviewed_by = models.CharField(max_length=200, blank=True, default="", help_text="Who had reviewed `about`.")
    about_reviewed_at = models.DateTimeField(null=True, blank=True, help_text="When `about` had been reviewed.")
    rule_name = models.CharField("rule", max_length=MAX_NAME_CHARS, blank=True)
    rule_version = models.BigIntegerField(default=0, help_text="The registry's version when the rule last changed.")
    registry_version = models.BigIntegerField(default=0)
    rule = models.JSONField("rule as it was", default=dict)
    action = models.CharField(max_length=10)
    winner = models.CharField(max_length=10, blank=True, default="", help_text="candidate, existing, or nothing.")
    strategy = models.CharField(max_length=20)
    confidence = models.FloatField()
    reason = models.TextField()
    signals = models.JSONField(default=list)
    total_score = models.FloatField(default=0.0)
    similarity = models.FloatField(null=True)
    records = models.JSONField(default=dict)
    merge = models.JSONField(null=True)
    others = models.JSONField(default=list)
    transitions = models.JSONField(default=list)
    actor = models.CharField(max_length=200)
    at = models.DateTimeField()
    reviewed_by = models.CharField(max_length=200, blank=True, default="")
    reviewed_at = models.DateTimeField(null=True, blank=True)

    objects = ConflictQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(name="semantic_conflict_two_memories", condition=~Q(candidate=models.F("existing"))),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Lists of a user, the newest first.
            models.Index(name="semantic_conflict_user_newest", fields=["user_id", "-id"]),
            # Those to review, with what the queue filters and counts them by: it reads the index alone.
            models.Index(
                name="semantic_conflict_open",
                fields=["-id"],
                include=["outcome", "confidence", "rule_name", "user_id", "household_id"],
                condition=Q(state="open"),
            ),
            # Those that a person is asked about, counted on every page: few of many that rules were certain about.
            models.Index(
                name="semantic_conflict_asked",
                fields=["-id"],
                include=["outcome", "rule_name", "user_id", "household_id"],
                condition=Q(IS_ASKED, state="open"),
            ),
            # What a person has reviewed, the latest first.
            models.Index(
                name="semantic_conflict_reviewed",
                fields=["reviewed_by", "-reviewed_at"],
                condition=Q(reviewed_at__isnull=False),
            ),
            # Reverting all that one version of a rule decided.
            models.Index(name="semantic_conflict_rule", fields=["rule_name", "rule_version"]),
            # Reverting all that was decided in a span of time.
            models.Index(name="semantic_conflict_at", fields=["at"]),
            # Lists of a household or a persona; rows without one are not in the index.
            models.Index(
                name="semantic_conflict_household", fields=["household_id", "-id"], condition=~Q(household_id="")
            ),
            models.Index(name="semantic_conflict_persona", fields=["persona_id", "-id"], condition=~Q(persona_id="")),
        ]

    def __str__(self) -> str:
        return str(self.uuid)

    @property
    def scope(self) -> Scope:
        """Return the scope of the two memories."""
        return Scope(self.user_id, self.household_id or None, self.persona_id or None)

    @property
    def is_in_force(self) -> bool:
        """Return whether its decision is in effect."""
        return self.state in {ReviewState.OPEN, ReviewState.ACCEPTED}

    @property
    def is_uncertain(self) -> bool:
        """Return whether something was decided on weak grounds, and no one has reviewed it."""
        is_weak = self.confidence <= WEAK_CONFIDENCE and self.outcome != ConflictOutcome.NOTICED
        return is_weak and self.state == ReviewState.OPEN
