"""Active and past warnings of the timeline."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from apps.episodic.domain.warnings import Severity, WarningKind
from apps.episodic.models.segment import Segment

WARNING_KIND_CHOICES = [
    (WarningKind.WRITE_LATENCY.value, "Write latency"),
    (WarningKind.SEGMENT_DAMAGED.value, "Damaged segment"),
    (WarningKind.DISK_NEARLY_FULL.value, "Disk nearly full"),
    (WarningKind.CAPACITY.value, "Capacity"),
    (WarningKind.MAINTENANCE_FAILED.value, "Maintenance failed"),
]
SEVERITY_CHOICES = [(severity.value, severity.capitalize()) for severity in Severity]


class TimelineWarning(models.Model):
    """A warning: active until `ended_at`. Reporting it again only moves `last_seen_at`."""

    kind = models.CharField(max_length=20, choices=WARNING_KIND_CHOICES)
    severity = models.CharField(max_length=10, choices=SEVERITY_CHOICES)
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
