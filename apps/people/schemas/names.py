"""Inputs and outputs of the lists of users, households and the like, and of the figures of one user."""

from typing import Annotated, Any, NotRequired, TypedDict

from apps.core.schemas.outputs import Moment, iso
from apps.core.schemas.paging import PageInput
from apps.people.selectors import NamedFigures, NameKind, UserFigures


class NameListInput(PageInput):
    """The query string of a list of names."""


class NameOutput(TypedDict):
    """A name with counts, as far as the key sees them."""

    id: str
    memories: Annotated[int, "Active ones."]
    inactive_memories: Annotated[int, "Superseded, merged, rejected and deleted ones."]
    events: NotRequired[
        Annotated[int, "From the database and from segment files. Only for users, households and personas."]
    ]


class UserOutput(TypedDict):
    """One user in figures, as far as the key sees them."""

    id: str
    memories: Annotated[dict[str, int], "By status."]
    conflicts: Annotated[dict[str, int], "Receipts by the state of their review."]
    events: Annotated[int, "From the database and from segment files."]
    households: int
    personas: int
    projects: int
    types: int
    sessions: int
    first_saved_at: Moment | None
    last_changed_at: Annotated[Moment | None, "Of a memory."]
    last_event_at: Annotated[Moment | None, "When the latest event happened."]


def render_name(figures: NamedFigures, kind: NameKind) -> dict[str, Any]:
    """Return a name with its counts as the API shows it."""
    shown = {"id": figures.name, "memories": figures.active, "inactive_memories": figures.inactive}
    return {**shown, "events": figures.events} if kind.has_events else shown


def render_user(figures: UserFigures) -> UserOutput:
    """Return one user in figures as the API shows them."""
    memories = figures.memories
    distinct = memories.distinct
    return {
        "id": figures.user_id,
        "memories": dict(memories.by_status),
        "conflicts": dict(memories.conflicts),
        "events": figures.events,
        "households": distinct[NameKind.HOUSEHOLDS],
        "personas": distinct[NameKind.PERSONAS],
        "projects": distinct[NameKind.PROJECTS],
        "types": distinct[NameKind.TYPES],
        "sessions": distinct[NameKind.SESSIONS],
        "first_saved_at": iso(memories.first_saved_at),
        "last_changed_at": iso(memories.last_changed_at),
        "last_event_at": iso(figures.last_event_at),
    }
