"""The schedules of knowledge sync."""

from django_q.models import Schedule

from apps.events.services import ScheduleSpec

SCHEDULES = (
    ScheduleSpec("sync: what is due", "apps.sync.tasks.due", Schedule.MINUTES, 1),
    ScheduleSpec("sync: trim runs", "apps.sync.tasks.trim", Schedule.HOURLY),
)
