"""The door of `events`: emit, deliver, redeliver, sweep, trim; tasks and schedules, and what becomes of them."""

from apps.events.board import (
    DeliveryRoute,
    FailureGroup,
    QueueState,
    ScheduleState,
    delivery_routes,
    failed_deliveries,
    failure_count,
    failure_groups,
    needs_attention,
    queue_state,
    schedule_states,
)
from apps.events.delivery import Drain, DrainReport, drain, redeliver, sweep
from apps.events.jobs import ScheduleSpec, request_once, schedules_ensure
from apps.events.outbox import OutsideTransactionError, emit, emit_many, payloads_redact, trim
from apps.events.runs import runs_trim
from apps.events.upkeep import (
    failures_rerun,
    failures_set_aside,
    schedule_pause,
    schedule_resume,
    schedule_run_now,
)
from apps.events.words import JobWords, job_words

__all__ = [
    "DeliveryRoute",
    "Drain",
    "DrainReport",
    "FailureGroup",
    "JobWords",
    "OutsideTransactionError",
    "QueueState",
    "ScheduleSpec",
    "ScheduleState",
    "delivery_routes",
    "drain",
    "emit",
    "emit_many",
    "failed_deliveries",
    "failure_count",
    "failure_groups",
    "failures_rerun",
    "failures_set_aside",
    "job_words",
    "needs_attention",
    "payloads_redact",
    "queue_state",
    "redeliver",
    "request_once",
    "runs_trim",
    "schedule_pause",
    "schedule_resume",
    "schedule_run_now",
    "schedule_states",
    "schedules_ensure",
    "sweep",
    "trim",
]
