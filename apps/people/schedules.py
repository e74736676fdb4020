"""The schedules of people."""

from django_q.models import Schedule

from apps.events.services import ScheduleSpec

SCHEDULES = (
    ScheduleSpec("people: erase", "apps.people.tasks.erase", Schedule.MINUTES, 1),
    ScheduleSpec("people: downloads", "apps.people.tasks.make_downloads", Schedule.MINUTES, 1),
)
