"""Applying prepared drafts to the rows, inside one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.events.services import emit_many
from apps.llm.models import EmbeddingSpace
from apps.semantic.bulk import insert_embeddings, insert_memories, insert_revisions
from apps.semantic.domain.duplicates import DuplicateAction, DuplicateDecision, decide_duplicate
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.drafts import Prepared, active_by_key, new_memory
from apps.semantic.events import MemorySaved, SaveAction, change_fields
from apps.semantic.locks import hold_space, lock_shards
from apps.semantic.models import Memory, MemoryEmbedding, MemoryRevision, RevisionAction


class VectorMissingError(Exception):
    """A duplicate seen before the transaction was gone inside it, so its vector was not computed."""


@dataclass(frozen=True)
class SaveResult:
    """What a save did: `inserted`, `updated` or `skipped`, the reason, and the memory as it is now."""

    action: str
    reason: str
    memory: Memory


class Writer:
    """Applies the duplicate decision to each draft, inside the caller's transaction."""

    def __init__(self, space: EmbeddingSpace, actor: str, now: datetime) -> None:
        self._space, self._actor, self._now = space, actor, now
        self._embeddings: list[MemoryEmbedding] = []
        self._inserted: list[Memory] = []
        self._revisions: list[MemoryRevision] = []
        self._saved: list[tuple[Memory, SaveAction]] = []

    def write(self, prepared: Sequence[Prepared]) -> list[SaveResult]:
        self._versions = lock_shards(item.key[0] for item in prepared)
        hold_space(self._space)
        self._stored = active_by_key(item.key for item in prepared)
        results = [self._write_one(item) for item in prepared]
        if self._inserted:
            insert_memories(self._inserted)
            insert_embeddings(self._embeddings)
        if self._revisions:
            insert_revisions(self._revisions)
        emit_many([self._event(memory, action) for memory, action in self._saved])
        return results

    def _write_one(self, item: Prepared) -> SaveResult:
        stored = self._stored.get(item.key)
        decision = decide_duplicate(item.draft.base_confidence, stored.base_confidence if stored else None)
        if stored is None:
            return SaveResult("inserted", decision.reason, self._insert(item, decision))
        if decision.action is DuplicateAction.UPDATE:
            self._update(stored, item.draft, decision)
            return SaveResult("updated", decision.reason, stored)
        return SaveResult("skipped", decision.reason, stored)

    def _insert(self, item: Prepared, decision: DuplicateDecision) -> Memory:
        if item.vector is None:
            raise VectorMissingError
        memory = new_memory(item.draft, item.scope, item.words, self._now)
        memory.base_confidence, memory.content_hash = decision.confidence, item.key[3]
        memory.version = self._versions[memory.user_id]
        self._stored[item.key] = memory
        self._inserted.append(memory)
        given = item.draft.embedding is not None
        self._embeddings.append(MemoryEmbedding(memory=memory, space=self._space, vector=item.vector, is_given=given))
        self._record(memory, RevisionAction.CREATED, decision.reason, {})
        self._saved.append((memory, SaveAction.INSERTED))
        return memory

    def _update(self, memory: Memory, draft: MemoryDraft, decision: DuplicateDecision) -> None:
        """Only what spec 002 section 9 lets a duplicate change; the content stays."""
        after: dict[str, Any] = {"base_confidence": decision.confidence}
        if draft.importance is not None:
            after["importance"] = draft.importance
        if draft.metadata:
            after["metadata"] = {**memory.metadata, **draft.metadata}
        changes = {name: [getattr(memory, name), value] for name, value in after.items()}
        for name, value in after.items():
            setattr(memory, name, value)
        memory.updated_at, memory.version = self._now, self._versions[memory.user_id]
        if memory.pk is not None:  # else it was inserted by this very call and is written with the rest
            memory.save(update_fields=[*after, "updated_at", "version"])
        self._record(memory, RevisionAction.UPDATED, decision.reason, changes)
        self._saved.append((memory, SaveAction.UPDATED))

    def _record(self, memory: Memory, action: RevisionAction, reason: str, changes: dict[str, Any]) -> None:
        self._revisions.append(
            MemoryRevision(
                memory=memory, action=action, reason=reason, actor=self._actor, at=self._now, changes=changes
            )
        )

    def _event(self, memory: Memory, action: SaveAction) -> MemorySaved:
        return MemorySaved(action=action, **change_fields(memory, self._actor, self._now))
