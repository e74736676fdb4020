"""Writes of the timeline: what other parts of the hub may call."""

from apps.episodic.maintenance.health_check import health_check
from apps.episodic.recording.record import RecordAction, RecordOutcome, RecordResult, event_record, events_record
from apps.episodic.warnings import warning_end, warning_report

__all__ = [
    "RecordAction",
    "RecordOutcome",
    "RecordResult",
    "event_record",
    "events_record",
    "health_check",
    "warning_end",
    "warning_report",
]
