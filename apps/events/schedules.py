"""The schedules of django-q2 that must exist, made once and then left to the operator."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection, transaction
from django_q.models import Schedule

# Any number that no other advisory lock of this project uses.
_LOCK = 0x6D68_7363


@dataclass(frozen=True)
class ScheduleSpec:
    """name: by which it is found again. task: dotted path. every: a `Schedule` type; minutes: for MINUTES."""

    name: str
    task: str
    every: str
    minutes: int | None = None


SCHEDULES = (
    ScheduleSpec("events: sweep", "apps.events.tasks.sweep", Schedule.MINUTES, 1),
    ScheduleSpec("events: trim", "apps.events.tasks.trim", Schedule.DAILY),
)


def schedules_ensure(*, specs: Sequence[ScheduleSpec] = SCHEDULES) -> list[str]:
    """Create the schedules that are missing; gives their names.

    One that exists by name is never changed, so what an operator edited stays. An advisory lock makes it
    safe for two processes at once, because django-q2 does not keep names unique.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        existing = set(Schedule.objects.values_list("name", flat=True))
        missing = [spec for spec in specs if spec.name not in existing]
        Schedule.objects.bulk_create(_row(spec) for spec in missing)
    return [spec.name for spec in missing]


def _row(spec: ScheduleSpec) -> Schedule:
    return Schedule(
        name=spec.name,
        func=spec.task,
        schedule_type=spec.every,
        minutes=spec.minutes,
        # No result row for every sweep: they would push the interesting ones out of the kept 500.
        kwargs="{'q_options': {'save': False}}",
    )
