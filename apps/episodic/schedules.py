"""The background work of the timeline that comes round by itself."""

from django_q.models import Schedule

from apps.events.services import ScheduleSpec

SCHEDULES = (
    ScheduleSpec("timeline: maintain", "apps.episodic.tasks.maintain", Schedule.MINUTES, 1),
    ScheduleSpec("timeline: prune", "apps.episodic.tasks.prune", Schedule.DAILY),
)
