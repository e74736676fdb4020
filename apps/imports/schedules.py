"""The schedules of imports."""

from django_q.models import Schedule

from apps.events.services import ScheduleSpec

SCHEDULES = (ScheduleSpec("imports: bring", "apps.imports.tasks.bring", Schedule.MINUTES, 1),)
