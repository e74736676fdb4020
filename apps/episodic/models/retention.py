"""How long events are kept."""

from typing import ClassVar

from django.core.validators import MinValueValidator
from django.db import models

from apps.core.domain.scope import MAX_IDENTIFIER_CHARS


class RetentionPolicy(models.Model):
    """Events older than `days` are pruned. A household's own policy replaces the global one.

    Off until an operator switches it on: nothing is deleted by default (the prepared one has 90 days). A household
    whose policy is off keeps everything, even if the global one is on.
    """

    household_id = models.CharField(
        max_length=MAX_IDENTIFIER_CHARS,
        blank=True,
        default="",
        help_text="Leave blank for the global policy, which applies to everybody without a policy of their own.",
    )
    days = models.PositiveIntegerField(validators=[MinValueValidator(1)], help_text="Older events are deleted.")
    is_enabled = models.BooleanField("enabled", default=False)
    updated_at = models.DateTimeField(auto_now=True)
    last_run_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_pruned_count = models.PositiveIntegerField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name_plural = "retention policies"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # One for each household, and one global.
            models.UniqueConstraint(name="episodic_retention_household", fields=["household_id"]),
            models.CheckConstraint(name="episodic_retention_days", condition=models.Q(days__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.household_id or 'everybody'}: {self.days} days"
