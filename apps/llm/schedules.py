"""Recurring background work for models."""

from django_q.models import Schedule

from apps.events.services import ScheduleSpec

SCHEDULES = (ScheduleSpec("models: sweep guards", "apps.llm.tasks.sweep_guards", Schedule.HOURLY),)
