"""The schedules of the timeline's background work."""

from django_q.models import Schedule

from apps.events.services import ScheduleSpec

SCHEDULES = (
    ScheduleSpec("timeline: maintain", "apps.episodic.tasks.maintain", Schedule.MINUTES, 1),
    ScheduleSpec("timeline: prune", "apps.episodic.tasks.prune", Schedule.DAILY),
)
