"""The state of a memory, and the changes of it that a receipt keeps (DESIGN D3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True)
class MemoryState:
    """All that a decision changes about a memory. superseded_by: the id of the memory that replaces it."""

    status: str
    superseded_by: UUID | None = None
    status_changed_at: datetime | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as a receipt keeps it."""
        return {
            "status": self.status,
            "superseded_by": str(self.superseded_by) if self.superseded_by else None,
            "status_changed_at": self.status_changed_at.isoformat() if self.status_changed_at else None,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "MemoryState":
        """Return exactly what `as_json` was called on."""
        superseded_by, changed_at = data["superseded_by"], data["status_changed_at"]
        return cls(
            data["status"],
            UUID(superseded_by) if superseded_by else None,
            datetime.fromisoformat(changed_at) if changed_at else None,
        )

    def has_same_status(self, other: "MemoryState") -> bool:
        """Check whether both are the same status by the same memory, whenever they began."""
        return (self.status, self.superseded_by) == (other.status, other.superseded_by)


@dataclass(frozen=True)
class Transition:
    """A change of a memory's state, or of its details. before: None when the decision created it.

    details: name -> [before, after] as JSON (see `domain.details`); the state is the same before and after then.
    """

    memory: UUID
    before: MemoryState | None
    after: MemoryState
    details: Mapping[str, list[Any]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return it as a receipt keeps it."""
        before = self.before.as_json() if self.before else None
        data = {"memory": str(self.memory), "before": before, "after": self.after.as_json()}
        return data | {"details": dict(self.details)} if self.details else data

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Transition":
        """Return exactly what `as_json` was called on."""
        before = MemoryState.from_json(data["before"]) if data["before"] else None
        after = MemoryState.from_json(data["after"])
        return cls(UUID(data["memory"]), before, after, data.get("details", {}))
