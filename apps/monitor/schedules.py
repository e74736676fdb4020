"""The schedules of numbers over time."""

from django_q.models import Schedule

from apps.core.jobs import ScheduleSpec

SCHEDULES = (
    # Away from the end of the minute: the worker begins up to half a minute late, and each minute has one sample.
    ScheduleSpec("monitor: sample", "apps.monitor.tasks.sample", Schedule.MINUTES, 1, second=10),
    ScheduleSpec("monitor: alarms", "apps.monitor.tasks.send_alarms", Schedule.MINUTES, 1, second=40),
    ScheduleSpec("monitor: roll up", "apps.monitor.tasks.roll_up", Schedule.HOURLY),
)
