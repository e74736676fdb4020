"""The schedules of `events`."""

from django_q.models import Schedule

from apps.events.jobs import ScheduleSpec

SCHEDULES = (
    ScheduleSpec("events: sweep", "apps.events.tasks.sweep", Schedule.MINUTES, 1),
    ScheduleSpec("events: trim", "apps.events.tasks.trim", Schedule.DAILY),
)
