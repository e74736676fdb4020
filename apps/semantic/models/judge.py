"""The judge: whether a chat model is asked about undecided pairs, and what it said of each."""

from __future__ import annotations

from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from apps.semantic.models.conflict import Conflict
from apps.semantic.models.memory import Memory

# Highest values. A run must end before django-q2 takes its worker for lost (`Q_CLUSTER["timeout"]`).
MAX_PAIRS, MAX_SECONDS = 10_000, 300
MAX_ASKED_MODEL_CHARS = 501
ONLY_ONE = 1


class Judge(models.Model):
    """Whether a chat model is asked, how much, and how the last run ended. One row; written by `judge.services` only.

    last_end: of `judge.run.JudgeEnd`. last_error: without the words of any memory.
    """

    enabled = models.BooleanField(
        default=False,
        help_text="Let the schedule ask the chat model about undecided pairs of memories. Their texts are sent to "
        "the model's provider. Without a model, nothing happens.",
    )
    pairs_per_day = models.PositiveIntegerField(
        default=100,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_PAIRS)],
        help_text="Maximum pairs asked about per day (UTC), by the schedule and by hand. The budget for chat models "
        "applies as well.",
    )
    max_seconds = models.PositiveIntegerField(
        default=60,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_SECONDS)],
        help_text="Maximum seconds per run, plus the time for the current question.",
    )
    last_run_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_run_seconds = models.FloatField(null=True, blank=True, editable=False)
    last_end = models.CharField(max_length=20, blank=True, default="", editable=False)
    last_error = models.CharField(max_length=300, blank=True, default="", editable=False)

    class Meta:
        verbose_name = verbose_name_plural = "judge"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(name="semantic_judge_only_one", condition=Q(id=ONLY_ONE)),
            # A run without an end, or one that django-q2 takes for lost, must not be possible.
            models.CheckConstraint(
                name="semantic_judge_bounds",
                condition=Q(pairs_per_day__range=(1, MAX_PAIRS)) & Q(max_seconds__range=(1, MAX_SECONDS)),
            ),
        ]

    def __str__(self) -> str:
        return "The judge"


class JudgedPairState(models.TextChoices):
    """What came of a pair.

    asked: there is no answer yet, or the run was killed. unanswered: what came back is no answer. skipped: not asked.
    """

    ASKED = "asked", "Asked"
    ANSWERED = "answered", "Answered"
    UNANSWERED = "unanswered", "Unanswered"
    SKIPPED = "skipped", "Skipped"


class JudgedPair(models.Model):
    """Two memories of a receipt that noticed them, and what a chat model said of them.

    Written by `judge` only, before the question and right after the answer, so that a killed run neither loses an
    answer that is paid for nor asks twice. model: the configured one, of which each pair is asked once with each
    version of the question; answered_by: the one that answered. code: why there is no answer, or why it was not asked.
    tries: questions that were begun. digest: of what was asked. settled_at: when nothing more could follow for the
    receipt.
    """

    notice = models.ForeignKey(Conflict, on_delete=models.CASCADE, related_name="judged_pairs")
    candidate = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+")
    existing = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+")
    prompt_version = models.PositiveIntegerField()
    model = models.CharField(max_length=MAX_ASKED_MODEL_CHARS)
    state = models.CharField(max_length=10, choices=JudgedPairState.choices)
    code = models.CharField(max_length=100, blank=True, default="")
    tries = models.PositiveSmallIntegerField(default=0)
    digest = models.CharField(max_length=64, blank=True, default="")
    verdict = models.CharField(max_length=10, blank=True, default="")
    holds = models.CharField(max_length=10, blank=True, default="")
    confidence = models.FloatField(null=True)
    reason = models.TextField(blank=True, default="")
    answered_by = models.CharField(max_length=MAX_ASKED_MODEL_CHARS, blank=True, default="")
    asked_at = models.DateTimeField(null=True)
    answered_at = models.DateTimeField(null=True)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Each pair costs once, whatever runs at the same time.
            models.UniqueConstraint(
                name="semantic_judged_pair_once", fields=["candidate", "existing", "prompt_version", "model"]
            ),
            # An answer is whole, and there is none without a verdict.
            models.CheckConstraint(
                name="semantic_judged_pair_answer",
                condition=(Q(state="answered") & ~Q(verdict="") & Q(confidence__isnull=False))
                | (~Q(state="answered") & Q(verdict="")),
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # How many were asked about today.
            models.Index(name="semantic_judged_pair_asked", fields=["asked_at"]),
        ]

    def __str__(self) -> str:
        return f"{self.candidate_id} and {self.existing_id}"
