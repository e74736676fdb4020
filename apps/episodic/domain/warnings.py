"""Kinds and severities of warnings, and what to do about each kind (spec 000, Warning escalation)."""

from enum import StrEnum


class WarningKind(StrEnum):
    """What is wrong. At most one warning of a kind (and segment, if it is about one) is active at a time."""

    WRITE_LATENCY = "write_latency"
    SEGMENT_DAMAGED = "segment_damaged"
    DISK_NEARLY_FULL = "disk_nearly_full"
    CAPACITY = "capacity"
    MAINTENANCE_FAILED = "maintenance_failed"


class Severity(StrEnum):
    """How bad it is. From `warning` on, events are not made into memories until the warning ends."""

    NOTICE = "notice"
    WARNING = "warning"
    CRITICAL = "critical"


HINTS: dict[WarningKind, str] = {
    WarningKind.WRITE_LATENCY: (
        "Recording takes longer than MEMORYHUB_TIMELINE_WRITE_MS. Check the load on the database, and record in "
        "batches. The warning ends when writes are fast again."
    ),
    WarningKind.SEGMENT_DAMAGED: (
        "Run `manage.py timeline doctor --repair`, or put the file back from a backup and choose Verify in the admin."
    ),
    WarningKind.DISK_NEARLY_FULL: (
        "Free space on the disk of the data directory, or enable a retention policy. Sealing waits until there is room."
    ),
    WarningKind.CAPACITY: (
        "More events are waiting to be archived than MEMORYHUB_TIMELINE_MAX_ROWS allows. Check that the worker is "
        "running and that the schedule `timeline: maintain` exists."
    ),
    WarningKind.MAINTENANCE_FAILED: "Check the failed task in the admin and the log of the worker.",
}
