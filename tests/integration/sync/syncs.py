"""Sources of decision records in real repositories, for tests of syncs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from apps.core.domain.clock import DeterministicClock
from apps.core.domain.scope import Access, Permission, Scope, system_access
from apps.semantic.selectors import ManagedMemory, managed_memories
from apps.sync import services
from apps.sync.models import KnowledgeItem, KnowledgeSource, SyncKind, SyncRun, SyncState
from tests.integration.sync.repository.repositories import Origin

OWNER = "team:platform"
OPERATOR = Access(Scope(OWNER), Permission.OPERATOR, "olga")
# Of the whole hub: it alone may name paths and secrets.
SYSTEM = system_access("admin")
START = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)


def record(number: int, title: str = "", status: str = "accepted", text: str = "We do it so.", more: str = "") -> str:
    """Return the text of a decision record with front matter."""
    head = f"id: ADR-{number:04}\ntitle: {title or f'Decision {number}'}\nstatus: {status}\n{more}"
    return f"---\n{head}---\n\n# {title or f'Decision {number}'}\n\n{text}\n"


def path_of(number: int) -> str:
    """Return the path of a decision record."""
    return f"adr/{number:04}.md"


@dataclass
class Hub:
    """A repository, the source that follows it, and the time."""

    origin: Origin
    source: KnowledgeSource
    clock: DeterministicClock = field(default_factory=lambda: DeterministicClock(int(START.timestamp() * 1000)))

    def write(self, files: Mapping[str, str | None]) -> str:
        """Commit files; None deletes one. Return the commit."""
        return self.origin.commit(dict(files))

    def sync(self, kind: SyncKind = SyncKind.INCREMENTAL, **more: Any) -> SyncRun:
        """Sync in the foreground, a minute later than the last time."""
        self.clock.advance(60_000)
        return services.sync_run(access=OPERATOR, uuid=self.source.uuid, kind=kind, clock=self.clock, **more)

    def update(self, **values: Any) -> None:
        """Change settings of the source."""
        self.source = services.source_update(access=SYSTEM, uuid=self.source.uuid, values=values)

    @property
    def state(self) -> SyncState:
        """Return what the last sync left."""
        return SyncState.objects.get(source=self.source)

    @property
    def items(self) -> dict[str, KnowledgeItem]:
        """Return the stored items by id."""
        return {item.item_id: item for item in KnowledgeItem.objects.filter(source=self.source)}

    @property
    def memories(self) -> dict[str, ManagedMemory]:
        """Return the active pointers by the id of their item."""
        found = managed_memories(self.source.manager)
        by_item = {str(memory.metadata["item_id"]): memory for memory in found}
        assert len(by_item) == len(found)
        return by_item

    def stored(self) -> dict[str, Any]:
        """Return all that a sync writes and a rollback restores, for comparisons."""
        state = self.state
        return {
            "state": (state.last_commit, state.last_sync_at, state.is_complete, state.checksum),
            "items": {
                key: (item.hash, item.path, item.title, item.status, item.commit, item.pointer, item.synced_at)
                for key, item in self.items.items()
            },
            "memories": {
                memory.uuid: (memory.content, dict(memory.metadata), memory.type, memory.project)
                for memory in managed_memories(self.source.manager)
            },
        }


def make_hub(folder: Path, files: Mapping[str, str] | None = None, **values: Any) -> Hub:
    """Create a repository and a source of it."""
    origin = Origin(folder / "origin.git")
    if files:
        origin.commit(dict(files))
    needed = {"name": "decisions", "user_id": OWNER, "kind": "git", "location": str(origin.path)}
    return Hub(origin, services.source_create(access=SYSTEM, values={**needed, **values}))
