"""The door of `events` for writes: emit, deliver, redeliver, sweep, trim, and the tasks and schedules of django-q2."""

from apps.events.delivery import Drain, DrainReport, drain, redeliver, sweep
from apps.events.jobs import ScheduleSpec, request_once, schedules_ensure
from apps.events.outbox import OutsideTransactionError, emit, emit_many, payloads_redact, trim

__all__ = [
    "Drain",
    "DrainReport",
    "OutsideTransactionError",
    "ScheduleSpec",
    "drain",
    "emit",
    "emit_many",
    "payloads_redact",
    "redeliver",
    "request_once",
    "schedules_ensure",
    "sweep",
    "trim",
]
