"""The schedules of people."""

from django_q.models import Schedule

from apps.events.services import ScheduleSpec

SCHEDULES = (
    ScheduleSpec("people: erase", "apps.people.tasks.erase", Schedule.MINUTES, 1),
    ScheduleSpec("people: downloads", "apps.people.tasks.make_downloads", Schedule.MINUTES, 1),
    ScheduleSpec("people: forget what apps learnt", "apps.people.tasks.forget_learnt", Schedule.MINUTES, 1),
    ScheduleSpec("people: trim requests of apps", "apps.people.tasks.trim_connections", Schedule.MINUTES, 10),
    ScheduleSpec("people: review foreign writes", "apps.people.tasks.review_memberships", Schedule.DAILY),
)
