"""What comes round by itself: the schedules of all apps, which a start creates where they are missing."""

from apps.events.schedules import SCHEDULES as EVENTS
from apps.events.schedules import ScheduleSpec
from apps.semantic.schedules import SCHEDULES as SEMANTIC

SCHEDULES: tuple[ScheduleSpec, ...] = (*EVENTS, *SEMANTIC)
