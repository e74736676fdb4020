"""The door of `audit` for writes: entries, notes of changes for the entry of a request, and retention."""

from apps.audit.recording.entries import record, write_entries
from apps.audit.recording.notes import note_act, note_change, note_object, record_command, recording
from apps.audit.retention import audit_trim
