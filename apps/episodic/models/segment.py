"""The catalogue of segments and their files, and the warnings about them and the timeline."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from apps.episodic.domain.alarms import Severity, WarningKind
from apps.episodic.domain.segment_state import RowsState, SegmentState

MAX_DAMAGE_CHARS = 300
SEGMENT_STATE_CHOICES = [(state.value, state.capitalize()) for state in SegmentState]
ROWS_STATE_CHOICES = [(state.value, state.capitalize()) for state in RowsState]
WARNING_KIND_CHOICES = [
    (WarningKind.WRITE_LATENCY.value, "Write latency"),
    (WarningKind.SEGMENT_DAMAGED.value, "Damaged segment"),
    (WarningKind.DISK_NEARLY_FULL.value, "Disk nearly full"),
    (WarningKind.CAPACITY.value, "Capacity"),
    (WarningKind.MAINTENANCE_FAILED.value, "Maintenance failed"),
]
SEVERITY_CHOICES = [(severity.value, severity.capitalize()) for severity in Severity]


class Catalogue(models.Model):
    """One row, whose `version` rises with every change of what queries read from files, in the same transaction.

    A reader that finds the same version before and after knows that it read the right files.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    version = models.BigIntegerField(default=0)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(name="episodic_catalogue_one_row", condition=Q(id=1)),
        ]

    def __str__(self) -> str:
        return f"version {self.version}"


class Segment(models.Model):
    """A stretch of the timeline that is sealed, archived, merged and pruned as one (DESIGN D8).

    Its life is `domain.segment_state`. Never delete a row: events, receipts and audit records name it.
    first_arrival: the arrival number after which its events begin. The figures of the file are those of its header.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    state = models.CharField(max_length=12, choices=SEGMENT_STATE_CHOICES, default=SegmentState.OPEN.value)
    rows = models.CharField(max_length=8, choices=ROWS_STATE_CHOICES, default=RowsState.COMPLETE.value)
    first_arrival = models.BigIntegerField(default=0)
    file_name = models.CharField(max_length=100, blank=True, default="")
    format_version = models.PositiveSmallIntegerField(default=0)
    event_count = models.PositiveIntegerField(default=0)
    first_timestamp = models.DateTimeField(null=True, blank=True)
    last_timestamp = models.DateTimeField(null=True, blank=True)
    size_bytes = models.BigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True, default="")
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)
    sealed_at = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True, help_text="When it was compacted or pruned.")
    checked_at = models.DateTimeField(null=True, blank=True, help_text="When its file was last verified as a whole.")
    damage = models.CharField(max_length=MAX_DAMAGE_CHARS, blank=True, default="")
    lost_count = models.PositiveIntegerField(default=0, help_text="Events that could not be read from a damaged file.")
    replaced_by = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="replaces")

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Writers never see two open segments, also when services race.
            models.UniqueConstraint(name="episodic_segment_one_open", fields=["state"], condition=Q(state="open")),
            models.UniqueConstraint(name="episodic_segment_file", fields=["file_name"], condition=~Q(file_name="")),
            # Rows are only deleted when a verified file has replaced them.
            models.CheckConstraint(
                name="episodic_segment_rows_or_file",
                condition=Q(rows="complete") | (~Q(sha256="") & ~Q(file_name="")) | Q(state="pruned"),
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # For queries and maintenance: they want a few among many that have ended.
            models.Index(name="episodic_segment_state", fields=["state"]),
        ]

    def __str__(self) -> str:
        return str(self.uuid)


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
