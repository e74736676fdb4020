"""Where a memory stands, and the steps from one standing to another that a receipt keeps (DESIGN D3)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True)
class MemoryState:
    """All that a decision changes about a memory. superseded_by: the id of the memory that stands in its place."""

    status: str
    superseded_by: UUID | None = None
    status_changed_at: datetime | None = None

    def as_json(self) -> dict[str, Any]:
        """As a receipt keeps it."""
        return {
            "status": self.status,
            "superseded_by": str(self.superseded_by) if self.superseded_by else None,
            "status_changed_at": self.status_changed_at.isoformat() if self.status_changed_at else None,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "MemoryState":
        """What `as_json` gave, exactly."""
        superseded_by, changed_at = data["superseded_by"], data["status_changed_at"]
        return cls(
            data["status"],
            UUID(superseded_by) if superseded_by else None,
            datetime.fromisoformat(changed_at) if changed_at else None,
        )

    def has_same_status(self, other: "MemoryState") -> bool:
        """Whether both are the same status behind the same memory; when that came to be makes no difference."""
        return (self.status, self.superseded_by) == (other.status, other.superseded_by)


@dataclass(frozen=True)
class Transition:
    """A memory's step from one standing to another. before: None when the decision brought it into being."""

    memory: UUID
    before: MemoryState | None
    after: MemoryState

    def as_json(self) -> dict[str, Any]:
        """As a receipt keeps it."""
        before = self.before.as_json() if self.before else None
        return {"memory": str(self.memory), "before": before, "after": self.after.as_json()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Transition":
        """What `as_json` gave."""
        before = MemoryState.from_json(data["before"]) if data["before"] else None
        return cls(UUID(data["memory"]), before, MemoryState.from_json(data["after"]))
