"""Writes of the timeline: what other apps, the API, the admin and tasks call. Nothing inside the app imports this."""

from apps.episodic.imports.importer import EventImport, events_import
from apps.episodic.maintenance.jobs import (
    JobKind,
    JobMessage,
    JobStatus,
    MessageSeverity,
    enqueue_job,
    run_part,
    run_status,
)
from apps.episodic.maintenance.run import MaintenanceReport, timeline_compact, timeline_maintain, timeline_seal
from apps.episodic.maintenance.runner import MaintenanceRunningError, health_check
from apps.episodic.recording.record import RecordAction, RecordOutcome, RecordResult, event_record, events_record
from apps.episodic.retention.forget import Forgetting, Forgotten, events_forget, forgetting_go_on
from apps.episodic.retention.prune import (
    RetentionPreview,
    retention_create,
    retention_delete,
    retention_preview,
    retention_update,
    timeline_prune,
)
from apps.episodic.retention.purge import event_delete, events_purge, events_written, events_written_remove
from apps.episodic.store.catalogue import segment_quarantine
from apps.episodic.warnings import warning_end, warning_report

__all__ = [
    "EventImport", "Forgetting", "Forgotten", "JobKind", "JobMessage", "JobStatus", "MaintenanceReport",
    "MaintenanceRunningError", "MessageSeverity", "RecordAction", "RecordOutcome", "RecordResult", "RetentionPreview",
    "enqueue_job", "event_delete", "event_record", "events_forget", "events_import", "events_purge", "events_record",
    "events_written", "events_written_remove",
    "forgetting_go_on", "health_check", "retention_create", "retention_delete", "retention_preview",
    "retention_update", "run_part", "run_status", "segment_quarantine", "timeline_compact", "timeline_maintain",
    "timeline_prune", "timeline_seal", "warning_end", "warning_report",
]  # fmt: skip
