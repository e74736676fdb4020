"""The door of `sync` for writes."""

from apps.sync.runs.resolve import conflict_resolve
from apps.sync.runs.rollback import ROLLBACK_STEPS, sync_rollback
from apps.sync.runs.sync import Preview, PreviewFile, run_waiting, sync_preview, sync_run
from apps.sync.runs.work import SYNC_STEPS
from apps.sync.sources.change import session_note, source_create, source_pause, source_resume, source_update
from apps.sync.sources.removal import source_delete
from apps.sync.triggers.due import runs_trim, sync_due
from apps.sync.triggers.request import sync_request
from apps.sync.triggers.webhook import WebhookAnswer, webhook_receive
