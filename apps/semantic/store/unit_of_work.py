"""Every change that one transaction makes to memories, kept together and written at its end.

Whoever decides says what is to become of memories; rows, vectors, history, receipts and events follow from that here,
so none of them can be forgotten.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from apps.events.domain.payload import EventPayload
from apps.events.services import emit_many
from apps.llm.selectors import EmbeddingSpace
from apps.semantic.domain.state import MemoryState, Transition
from apps.semantic.events import MemoryDeleted, MemorySaved, MemoryStatusChanged, SaveAction, change_fields
from apps.semantic.memories.prepare import duplicate_key
from apps.semantic.models import Conflict, Memory, MemoryEmbedding, MemoryRevision, MemoryStatus, RevisionAction
from apps.semantic.store.copy import insert_embeddings, insert_memories, insert_revisions, number_memories

STATE_FIELDS = ("status", "superseded_by", "status_changed_at", "updated_at", "version")


def state_of(memory: Memory) -> MemoryState:
    """Where a memory stands now."""
    by = memory.superseded_by
    return MemoryState(str(memory.status), by.uuid if by else None, memory.status_changed_at)


class UnitOfWork:
    """The changes of one transaction. versions: of the locked shards, by user (see `locks`)."""

    def __init__(self, actor: str, now: datetime, versions: Mapping[str, int]) -> None:
        self.actor, self.now = actor, now
        self._versions = versions
        self._rows: dict[int, Memory] = {}
        self._inserted: list[Memory] = []
        self._embeddings: list[MemoryEmbedding] = []
        self._changed: dict[int, tuple[Memory, set[str]]] = {}
        self._revisions: list[MemoryRevision] = []
        self._receipts: list[Conflict] = []
        self._events: list[EventPayload] = []

    def row(self, memory: Memory) -> Memory:
        """The one object that stands for a stored memory here: what was decided about it is known only to that one."""
        return self._rows.setdefault(memory.pk, memory)

    def insert(
        self,
        memory: Memory,
        space: EmbeddingSpace,
        vector: npt.NDArray[np.float32],
        *,
        is_given: bool,
        reason: str,
        receipt: UUID | None = None,
    ) -> Transition:
        """Add a memory as it is, with its vector of a space. receipt: of the decision that it arrives with."""
        memory.version = self._versions[memory.user_id]
        self._inserted.append(memory)
        self._embeddings.append(MemoryEmbedding(memory=memory, space=space, vector=vector, is_given=is_given))
        self.record(memory, RevisionAction.CREATED, {}, reason=reason, conflict=receipt)
        if memory.status == MemoryStatus.ACTIVE:
            self.emit(MemorySaved(action=SaveAction.INSERTED, **self._fields(memory)))
        return Transition(memory.uuid, None, state_of(memory))

    def update(self, memory: Memory, after: Mapping[str, Any], *, reason: str) -> None:
        """Give fields of a memory new values."""
        changes = {name: [getattr(memory, name), value] for name, value in after.items()}
        for name, value in after.items():
            setattr(memory, name, value)
        self._touch(memory, after)
        self.record(memory, RevisionAction.UPDATED, changes, reason=reason)
        self.emit(MemorySaved(action=SaveAction.UPDATED, **self._fields(memory)))

    def move(
        self,
        memory: Memory,
        status: MemoryStatus,
        by: Memory | None,
        *,
        action: RevisionAction,
        receipt: UUID,
        since: datetime | None = None,
    ) -> Transition:
        """Let a memory stand otherwise from now on, or as it did before, `since` then."""
        before = state_of(memory)
        memory.status, memory.superseded_by, memory.status_changed_at = status, by, since
        after = state_of(memory)
        self._touch(memory, STATE_FIELDS)
        self.record(memory, action, _differences(before, after), conflict=receipt)
        self.emit(self._moved(memory, receipt))
        return Transition(memory.uuid, before, after)

    def inserted_twin(self, memory: Memory, besides: Collection[Memory]) -> Memory | None:
        """An active memory of the same scope and content among those inserted."""
        others = (one for one in self._inserted if one.status == MemoryStatus.ACTIVE and one not in besides)
        return next((one for one in others if duplicate_key(one) == duplicate_key(memory)), None)

    def record(
        self,
        memory: Memory,
        action: RevisionAction,
        changes: Mapping[str, Any],
        *,
        reason: str = "",
        conflict: UUID | None = None,
    ) -> None:
        """Add a step to the history of a memory."""
        self._revisions.append(
            MemoryRevision(
                memory=memory,
                action=action,
                reason=reason,
                actor=self.actor,
                at=self.now,
                changes=dict(changes),
                conflict=conflict,
            )
        )

    def add_receipt(self, receipt: Conflict) -> None:
        """Keep a receipt; its memories may be among those inserted."""
        self._receipts.append(receipt)

    def emit(self, event: EventPayload) -> None:
        """Tell of something once the transaction is committed."""
        self._events.append(event)

    def write(self) -> None:
        """Write everything. What leaves goes first: what arrives may have the same content."""
        if self._inserted:
            number_memories(self._inserted)
        for memory, fields in self._changed.values():
            memory.superseded_by = memory.superseded_by  # takes over an id that it has only now
            memory.save(update_fields=fields)
        if self._inserted:
            insert_memories(self._inserted)
            insert_embeddings(self._embeddings)
        if self._revisions:
            insert_revisions(self._revisions)
        for receipt in self._receipts:
            _refer_to_ids(receipt)
        Conflict.objects.bulk_create(self._receipts)
        emit_many(self._events)

    def _touch(self, memory: Memory, fields: Any) -> None:
        memory.updated_at, memory.version = self.now, self._versions[memory.user_id]
        if memory.pk is None:  # inserted by this very transaction, and written with the rest
            return
        _, known = self._changed.setdefault(memory.pk, (memory, set()))
        known.update(fields, ("updated_at", "version"))

    def _moved(self, memory: Memory, receipt: UUID) -> EventPayload:
        if memory.status == MemoryStatus.DELETED:
            return MemoryDeleted(**self._fields(memory))
        by = memory.superseded_by
        return MemoryStatusChanged(
            status=str(memory.status),
            superseded_by=by.uuid if by else None,
            conflict_id=receipt,
            **self._fields(memory),
        )

    def _fields(self, memory: Memory) -> dict[str, Any]:
        return change_fields(memory, self.actor, self.now)


def _differences(before: MemoryState, after: MemoryState) -> dict[str, Any]:
    """Field -> [before, after], of what is not the same."""
    old, new = before.as_json(), after.as_json()
    return {name: [old[name], new[name]] for name in ("status", "superseded_by") if old[name] != new[name]}


def _refer_to_ids(receipt: Conflict) -> None:
    """Let a receipt point at memories and receipts that had no id when it was made."""
    receipt.candidate, receipt.existing = receipt.candidate, receipt.existing
    receipt.result, receipt.about = receipt.result, receipt.about
