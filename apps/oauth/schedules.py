"""The schedules of the sign-in of apps."""

from django_q.models import Schedule

from apps.events.services import ScheduleSpec

SCHEDULES = (ScheduleSpec("oauth: trim sign-ins", "apps.oauth.tasks.trim", Schedule.HOURLY),)
