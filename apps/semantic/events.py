"""What semantic memory tells the rest of the hub. Never the content: who needs it reads it under its own rights."""

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from apps.events.domain.payload import EventPayload, Moment, Text
from apps.semantic.domain.index_health import IndexLevel, IndexReason

if TYPE_CHECKING:
    from apps.semantic.models import Memory


class SaveAction(StrEnum):
    """What a save did."""

    INSERTED = "inserted"
    UPDATED = "updated"


class MemoryChange(EventPayload):
    """Whose memory changed, and when."""

    memory_id: UUID
    user_id: Text
    household_id: Text | None
    persona_id: Text | None
    actor: Text
    at: Moment


def change_fields(memory: "Memory", actor: str, at: datetime) -> dict[str, Any]:
    """The fields that every MemoryChange of a memory has."""
    return {
        "memory_id": memory.uuid,
        "user_id": memory.user_id,
        "household_id": memory.household_id or None,
        "persona_id": memory.persona_id or None,
        "actor": actor,
        "at": at,
    }


class MemorySaved(MemoryChange):
    """A memory was stored, or an exact duplicate improved it."""

    name: ClassVar[str] = "memory:semantic:saved"
    action: SaveAction


class MemoryReinforced(MemoryChange):
    """The decay of a memory started anew."""

    name: ClassVar[str] = "memory:semantic:reinforced"


class MemoryDeleted(MemoryChange):
    """A memory was soft-deleted."""

    name: ClassVar[str] = "memory:semantic:deleted"


class MemoryRestored(MemoryChange):
    """A soft-deleted memory is active again."""

    name: ClassVar[str] = "memory:semantic:restored"


class MemoryStatusChanged(MemoryChange):
    """A decision, or its undoing, changed the status of a memory: `superseded`, `merged`, or `active` again."""

    name: ClassVar[str] = "memory:semantic:status_changed"
    status: Text
    superseded_by: UUID | None
    conflict_id: UUID


class ConflictDecided(EventPayload):
    """Two memories disagree, and what was decided; with the outcome `noticed`, that both stand.

    Overriding and reverting are decisions, too: `about` is the receipt of the one that they undo.
    """

    name: ClassVar[str] = "memory:conflict:decided"
    conflict_id: UUID
    user_id: Text
    household_id: Text | None
    persona_id: Text | None
    origin: Text
    outcome: Text
    candidate_id: UUID
    existing_id: UUID
    result_id: UUID | None
    rule_name: Text
    confidence: float
    about: UUID | None
    actor: Text
    at: Moment


class IndexHealthChanged(EventPayload):
    """The vector index of a process warns, does with less, or is well again. reasons: worst first; of the end, of what.

    instance: host and process.
    """

    name: ClassVar[str] = "memory:semantic:index_health"
    level: IndexLevel
    before: IndexLevel
    reasons: tuple[IndexReason, ...]
    hints: tuple[Text, ...]
    instance: Text
    at: Moment


class MemoriesPurged(EventPayload):
    """All memories of a scope were removed for good."""

    name: ClassVar[str] = "memory:semantic:purged"
    user_id: Text
    household_id: Text | None
    persona_id: Text | None
    count: int
    actor: Text
    at: Moment
