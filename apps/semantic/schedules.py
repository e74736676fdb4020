"""The background work of semantic memory that comes round by itself."""

from django_q.models import Schedule

from apps.events.schedules import ScheduleSpec

SCHEDULES = (ScheduleSpec("semantic: consolidate", "apps.semantic.tasks.consolidate_enabled", Schedule.HOURLY),)
