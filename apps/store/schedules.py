"""Recurring background work for the store."""

from django_q.models import Schedule

from apps.events.services import ScheduleSpec

SCHEDULES = (ScheduleSpec("store: tidy", "apps.store.tasks.tidy", Schedule.MINUTES, 10),)
