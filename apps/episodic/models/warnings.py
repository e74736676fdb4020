"""Active and past warnings of the timeline."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from apps.episodic.domain.warnings import Severity, WarningKind
from apps.episodic.models.segment import Segment


class WarningKindChoices(models.TextChoices):
    """`WarningKind` for columns and filters."""

    WRITE_LATENCY = WarningKind.WRITE_LATENCY, "Write latency"
    SEGMENT_DAMAGED = WarningKind.SEGMENT_DAMAGED, "Damaged segment"
    DISK_NEARLY_FULL = WarningKind.DISK_NEARLY_FULL, "Disk nearly full"
    CAPACITY = WarningKind.CAPACITY, "Capacity"
    MAINTENANCE_FAILED = WarningKind.MAINTENANCE_FAILED, "Maintenance failed"


class SeverityChoices(models.TextChoices):
    """`Severity` for columns and filters."""

    NOTICE = Severity.NOTICE, "Notice"
    WARNING = Severity.WARNING, "Warning"
    CRITICAL = Severity.CRITICAL, "Critical"


class TimelineWarning(models.Model):
    """A warning: active until `ended_at`. Reporting it again only moves `last_seen_at`."""

    kind = models.CharField(max_length=20, choices=WarningKindChoices.choices)
    severity = models.CharField(max_length=10, choices=SeverityChoices.choices)
    segment = models.ForeignKey(Segment, null=True, blank=True, on_delete=models.PROTECT)
    detail = models.CharField(max_length=500)
    began_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # One warning, however many processes notice the same condition concurrently.
            models.UniqueConstraint(
                name="episodic_warning_active",
                fields=["kind", "segment"],
                condition=Q(ended_at=None),
                nulls_distinct=False,
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Read for every routed event: none or a few.
            models.Index(name="episodic_warning_open", fields=["kind"], condition=Q(ended_at=None)),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} since {self.began_at:%Y-%m-%d %H:%M}"
