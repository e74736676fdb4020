"""The schedules of semantic memory."""

from django_q.models import Schedule

from apps.events.services import ScheduleSpec

SCHEDULES = (
    ScheduleSpec("semantic: consolidate", "apps.semantic.tasks.consolidate_enabled", Schedule.HOURLY),
    ScheduleSpec("semantic: judge conflicts", "apps.semantic.tasks.judge_enabled", Schedule.HOURLY),
    ScheduleSpec("semantic: expire memories", "apps.semantic.tasks.expire_memories", Schedule.MINUTES, 1),
    ScheduleSpec("bridge: catch up", "apps.semantic.tasks.catch_up_events", Schedule.MINUTES, 1),
    ScheduleSpec("bridge: trim", "apps.semantic.tasks.trim_events", Schedule.DAILY),
)
