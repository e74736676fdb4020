"""The schedules of all apps, which a start creates where they are missing."""

from django_q.models import Schedule

from apps.episodic.schedules import SCHEDULES as EPISODIC
from apps.events.schedules import SCHEDULES as EVENTS
from apps.events.services import ScheduleSpec
from apps.imports.schedules import SCHEDULES as IMPORTS
from apps.llm.schedules import SCHEDULES as LLM
from apps.monitor.schedules import SCHEDULES as MONITOR
from apps.notes.schedules import SCHEDULES as NOTES
from apps.oauth.schedules import SCHEDULES as OAUTH
from apps.people.schedules import SCHEDULES as PEOPLE
from apps.semantic.schedules import SCHEDULES as SEMANTIC
from apps.store.schedules import SCHEDULES as STORE
from apps.sync.schedules import SCHEDULES as SYNC

# Of apps below the schedules.
BELOW = (ScheduleSpec("audit: trim", "apps.audit.tasks.trim", Schedule.DAILY),)
SCHEDULES: tuple[ScheduleSpec, ...] = (
    *EVENTS, *MONITOR, *LLM, *EPISODIC, *SEMANTIC, *NOTES, *SYNC, *STORE, *PEOPLE, *IMPORTS, *OAUTH, *BELOW
)  # fmt: skip
