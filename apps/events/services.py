"""The door of `events`: emit, deliver, redeliver, sweep, trim; tasks and schedules, and what becomes of them."""

from apps.events.board import (
    FailureGroup,
    JobWords,
    ScheduleState,
    delivery_routes,
    failed_deliveries,
    failure_count,
    failure_groups,
    job_words,
    needs_attention,
    queue_state,
    schedule_states,
)
from apps.events.delivery import drain, redeliver, sweep
from apps.events.jobs import (
    ScheduleSpec,
    failures_rerun,
    failures_set_aside,
    request_once,
    schedule_pause,
    schedule_resume,
    schedule_run_now,
    schedules_ensure,
)
from apps.events.outbox import OutsideTransactionError, emit, emit_many, payloads_redact, trim
from apps.events.runs import runs_trim
