"""What the timeline warns about, and what to do about it (spec 000, Warning escalation)."""

from enum import StrEnum


class WarningKind(StrEnum):
    """What is wrong. One warning of a kind (and of a segment, where it is about one) is active at a time."""

    WRITE_LATENCY = "write_latency"
    SEGMENT_DAMAGED = "segment_damaged"
    DISK_NEARLY_FULL = "disk_nearly_full"
    CAPACITY = "capacity"
    MAINTENANCE_FAILED = "maintenance_failed"


class Severity(StrEnum):
    """How bad it is. From `warning` on, events are not made into memories until it is over."""

    NOTICE = "notice"
    WARNING = "warning"
    CRITICAL = "critical"


HINTS: dict[WarningKind, str] = {
    WarningKind.WRITE_LATENCY: (
        "Recording takes longer than MEMORYHUB_TIMELINE_WRITE_MS. Look at the load of the database, and record in "
        "batches. It ends by itself."
    ),
    WarningKind.SEGMENT_DAMAGED: (
        "Run `manage.py timeline doctor --repair`, or put the file back from a backup and choose Verify in the admin."
    ),
    WarningKind.DISK_NEARLY_FULL: (
        "Free space where the data directory lies, or enable a retention policy. Sealing waits until there is room."
    ),
    WarningKind.CAPACITY: (
        "More events wait to be archived than MEMORYHUB_TIMELINE_MAX_ROWS. See that the worker runs and that "
        "the schedule `timeline: maintain` is there."
    ),
    WarningKind.MAINTENANCE_FAILED: "Look at the failed task in the admin and at the worker's log.",
}
