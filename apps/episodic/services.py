"""Writes of the timeline: what other apps, the API, the admin and tasks call. Nothing inside the app imports this."""

from apps.episodic.imports.importer import events_import
from apps.episodic.maintenance.doctor import DoctorReport, FindingKind, timeline_examine
from apps.episodic.maintenance.jobs import (
    JobKind,
    JobStatus,
    MessageSeverity,
    enqueue_job,
    run_part,
    run_status,
)
from apps.episodic.maintenance.run import timeline_maintain
from apps.episodic.maintenance.runner import MaintenanceRunningError, maintenance_lock
from apps.episodic.recording.known import events_known
from apps.episodic.recording.record import RecordAction, RecordResult, event_record, events_record
from apps.episodic.retention.forget import Forgetting, Forgotten, events_forget, forgetting_go_on
from apps.episodic.retention.prune import (
    retention_create,
    retention_delete,
    retention_preview,
    retention_update,
    timeline_prune,
)
from apps.episodic.retention.purge import event_delete, events_purge, events_written, events_written_remove
from apps.episodic.store.catalogue import segment_quarantine
from apps.episodic.store.files import kept_files
