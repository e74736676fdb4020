"""Who and what there is in the hub: users, households, personas, projects, types and sessions, with counts."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from apps.core.db.names import NameSpan, name_id
from apps.core.domain.cursors import NEWER, Cursor, CursorPage, cursor_gone
from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import IDENTIFIERS, Access, Scope
from apps.episodic.domain.window import EventQuery
from apps.episodic.selectors import event_counts, events_query
from apps.people.downloads.request import (
    KEPT,
    download_file_exists,
    download_of,
    download_pieces,
    download_ready,
    progress_read,
)
from apps.people.erasure.request import obstacles, user_digest
from apps.people.leaving import GRACE, THEMSELVES, plan_of
from apps.people.looking import MOST, look_of, may_look
from apps.people.models import (
    MAX_REASON_CHARS,
    OPEN_STATES,
    AppForgetting,
    Erasure,
    ErasureQuerySet,
    Look,
    PlannedErasure,
)
from apps.semantic.selectors import MemoryFigures, memory_counts, memory_figures, memory_name_total

__all__ = [
    "GRACE",
    "KEPT",
    "MAX_REASON_CHARS",
    "MOST",
    "AppForgetting",
    "Look",
    "NameKind",
    "NamedFigures",
    "UserFigures",
    "download_file_exists",
    "download_of",
    "download_pieces",
    "download_ready",
    "erasure_get",
    "erasure_list",
    "erasure_obstacles",
    "erasure_of_login",
    "forgetting_of",
    "look_of",
    "may_look",
    "name_page",
    "own_erasure",
    "plan_of",
    "plan_of_uuid",
    "progress_read",
    "user_figures",
]


# How many names one statement takes.
NAMES_AT_ONCE = 5_000


class NameKind(StrEnum):
    """What is listed: the column of its names. Events have the identifiers of a scope, and none of the tags."""

    USERS = "user_id"
    HOUSEHOLDS = "household_id"
    PERSONAS = "persona_id"
    PROJECTS = "project"
    TYPES = "type"
    SESSIONS = "session_id"

    @property
    def has_events(self) -> bool:
        """Return whether events have such a name."""
        return self.value in IDENTIFIERS


@dataclass(frozen=True)
class NamedFigures:
    """A name, and how many memories and events are of it. inactive: memories that no search finds."""

    name: str
    active: int = 0
    inactive: int = 0
    events: int = 0


def name_page(
    access: Access,
    scope: Scope,
    kind: NameKind,
    *,
    cursor: Cursor | None,
    limit: int,
    count: bool,
    containing: str = "",
) -> CursorPage[NamedFigures]:
    """Return a page of the names that the caller's memories and events in a scope have.

    containing: only names in which this text occurs; the count is of all. Raises NotFoundError for a cursor that names
    none of them, UnavailableError while the timeline is being loaded.
    """
    beyond, is_backwards = None, False
    if cursor is not None:
        named = count_names(access, scope, kind, NameSpan(limit=1, only=cursor.id))
        if not named:
            raise cursor_gone()
        beyond, is_backwards = named[0].name, cursor.direction == NEWER
    found = count_names(access, scope, kind, NameSpan(beyond, is_backwards, limit + 1, containing=containing))
    return CursorPage.cut(
        found,
        limit,
        lambda way, one: Cursor(way, name_id(one.name)),
        is_first=beyond is None,
        is_backwards=is_backwards,
        total=count_all(access, scope, kind) if count else None,
    )


def count_names(access: Access, scope: Scope, kind: NameKind, span: NameSpan) -> list[NamedFigures]:
    """Return the wanted names with their counts."""
    memories = {one.name: one for one in memory_counts(access, scope, kind.value, span)}
    counted = event_counts(access, scope, kind.value, span) if kind.has_events else []
    events = {one.name: one.events for one in counted}
    figures = []
    # Each list has the first ones of its own, so the first ones of both are complete.
    for name in span.cut([*memories, *events]):
        of_memories = memories.get(name)
        active, inactive = (of_memories.active, of_memories.inactive) if of_memories else (0, 0)
        figures.append(NamedFigures(name, active, inactive, events.get(name, 0)))
    return figures


def count_all(access: Access, scope: Scope, kind: NameKind) -> int:
    """Return how many names there are. Those of memories are counted by the database, and not read."""
    memories = memory_name_total(access, scope, kind.value)
    if not kind.has_events:
        return memories
    events = [one.name for one in event_counts(access, scope, kind.value)]
    parts = (events[first : first + NAMES_AT_ONCE] for first in range(0, len(events), NAMES_AT_ONCE))
    return memories + len(events) - sum(memory_name_total(access, scope, kind.value, part) for part in parts)


@dataclass(frozen=True)
class UserFigures:
    """One user in figures, as far as the caller sees them. last_event_at: when the latest event happened."""

    user_id: str
    memories: MemoryFigures
    events: int
    last_event_at: datetime | None


def user_figures(access: Access, user_id: str) -> UserFigures:
    """Return a user's figures. Raises NotFoundError for one of whom the caller sees nothing, UnavailableError."""
    scope = Scope(user_id)
    memories = memory_figures(access, scope, [kind.value for kind in NameKind if kind is not NameKind.USERS])
    found = events_query(access, EventQuery(scope=scope, top_k=1))
    if not sum(memories.by_status.values()) and not found.diagnostics.scanned:
        raise NotFoundError("There is no such user.")
    last = found.events[0].timestamp if found.events else None
    return UserFigures(user_id, memories, found.diagnostics.scanned, last)


def erasure_list(user_id: str | None = None) -> ErasureQuerySet:
    """Return all erasures, or those of one user, the newest first."""
    erasures = Erasure.objects.all()
    return (erasures if user_id is None else erasures.filter(digest=user_digest(user_id))).newest_first()


def erasure_get(uuid: UUID) -> Erasure:
    """Return one erasure. Raises NotFoundError."""
    erasure = Erasure.objects.filter(uuid=uuid).first()
    if erasure is None:
        raise NotFoundError("There is no such erasure.")
    return erasure


def erasure_of_login(login_id: int | None) -> Erasure | None:
    """Return the open erasure for which an account is set aside."""
    return Erasure.objects.filter(state__in=OPEN_STATES, logins__contains=[{"login": login_id}]).first()


def own_erasure(uuid: UUID) -> Erasure | None:
    """Return an erasure that a person asked for themselves."""
    return Erasure.objects.filter(uuid=uuid, requested_by=THEMSELVES).first()


def plan_of_uuid(uuid: UUID) -> PlannedErasure | None:
    """Return what a person has planned, by the id of the erasure that it will be."""
    return PlannedErasure.objects.filter(uuid=uuid).first()


def erasure_obstacles(user_id: str) -> list[str]:
    """Return what is in the way of forgetting a user, without reading whole files."""
    return obstacles(user_id, full=False)


def forgetting_of(user_id: str, uuid: UUID) -> AppForgetting | None:
    """Return the forgetting of what a key learnt of a user; None where the user has none of this id."""
    return AppForgetting.objects.filter(user_id=user_id, uuid=uuid).first()
