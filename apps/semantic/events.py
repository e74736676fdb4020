"""Events of semantic memory. They never have the content: subscribers that need it read it under their own rights."""

from enum import StrEnum
from typing import ClassVar
from uuid import UUID

from apps.events.domain.payload import EventPayload, Moment, Text
from apps.semantic.domain.index_health import IndexLevel, IndexReason


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


class MemorySaved(MemoryChange):
    """A memory was stored, or an exact duplicate improved it."""

    name: ClassVar[str] = "memory:semantic:saved"
    action: SaveAction


class MemoryReinforced(MemoryChange):
    """The decay of a memory was restarted."""

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
    """Two memories conflict, and what was decided; with the outcome `noticed` both are kept.

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
    """The vector index of a process has another level of health. reasons: worst first; when it is well, of what ended.

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
