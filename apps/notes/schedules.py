"""The schedules of notes."""

from django_q.models import Schedule

from apps.events.services import ScheduleSpec

SCHEDULES = (
    ScheduleSpec("notes: look at the disk", "apps.notes.tasks.look_at_disk", Schedule.MINUTES, 1),
    ScheduleSpec("notes: extract facts", "apps.notes.tasks.extract_facts", Schedule.MINUTES, 1),
    ScheduleSpec("notes: clear conversations", "apps.notes.tasks.clear_conversations", Schedule.HOURLY),
)
