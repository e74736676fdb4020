"""The schedules of all apps, which a start creates where they are missing."""

from apps.episodic.schedules import SCHEDULES as EPISODIC
from apps.events.schedules import SCHEDULES as EVENTS
from apps.events.services import ScheduleSpec
from apps.llm.schedules import SCHEDULES as LLM
from apps.monitor.schedules import SCHEDULES as MONITOR
from apps.notes.schedules import SCHEDULES as NOTES
from apps.people.schedules import SCHEDULES as PEOPLE
from apps.semantic.schedules import SCHEDULES as SEMANTIC
from apps.sync.schedules import SCHEDULES as SYNC

SCHEDULES: tuple[ScheduleSpec, ...] = (*EVENTS, *MONITOR, *LLM, *EPISODIC, *SEMANTIC, *NOTES, *SYNC, *PEOPLE)
