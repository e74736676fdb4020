"""Write managed memories: those that follow something kept elsewhere, such as an item of knowledge.

They are found like others. Duplicates and conflicts are neither looked for among them nor between them and others.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import UnavailableError
from apps.events.domain.payload import EventPayload
from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain.content import content_hash
from apps.semantic.domain.memory import TAGS, MemoryDraft
from apps.semantic.events import MemoryRestored
from apps.semantic.memories.update import plain
from apps.semantic.models import Memory, MemoryEmbedding, MemoryStatus, RevisionAction
from apps.semantic.store.embedding_space import current_space, embed, hold_space, with_current_space
from apps.semantic.store.rows import Vector, new_memory, word_columns
from apps.semantic.store.unit_of_work import SAVED_AGAIN, UnitOfWork, lock_shards

T = TypeVar("T")
Progress = Callable[[int, int], None]
# Texts between two reports of progress, and memories that are read and written together.
EMBEDDED_AT_ONCE, WRITTEN_AT_ONCE = 100, 500
MAX_REASON_CHARS = 100
CREATED, MOVED = "created", "moved"
_WORDS = ("content", "keywords", "context", "occurred_at")
_COLUMNS = (
    *TAGS, *_WORDS, "household_id", "persona_id", "is_global", "decay_policy", "importance", "base_confidence",
    "source", "origin", "expires_at", "session_id", "metadata",
)  # fmt: skip


class ManagedChangedError(UnavailableError):
    """A memory is not what it was when its change was prepared."""

    def __init__(self) -> None:
        super().__init__("A memory has changed since the write was prepared.", retry_after=1, code="managed_changed")


@dataclass(frozen=True, kw_only=True)
class ManagedChange:
    """What a managed memory is to be.

    draft: with the user in its scope. uuid: of the memory to change, which becomes active again if it was deleted; None
    for a new one, which takes the place of one that was destroyed as well. reason: for its history, in one word.
    """

    draft: MemoryDraft
    uuid: UUID | None = None
    reason: str = ""


@dataclass(frozen=True, eq=False)
class PreparedManaged:
    """Changes, and the vectors of contents that are new, by content. space: None where nothing is to be changed."""

    changes: Sequence[ManagedChange]
    space: EmbeddingSpace | None
    vectors: Mapping[str, Vector]


def no_progress(done: int, total: int) -> None:
    """Report nothing."""


def managed_with_space(work: Callable[[], T]) -> T:
    """Run `work`, which prepares and writes; once more if the embedding space or a memory changed in between."""
    try:
        return with_current_space(lambda _: work())
    except ManagedChangedError:
        return with_current_space(lambda _: work())


def managed_prepare(*, changes: Sequence[ManagedChange], progress: Progress = no_progress) -> PreparedManaged:
    """Embed the contents that the stored memories do not have yet: the slow half, which needs no transaction.

    progress: receives how many contents are embedded, and how many there are. Raises UnavailableError; not without any
    change, so that memories can be deleted whatever has become of the model.
    """
    if not changes:
        return PreparedManaged((), None, {})
    space = current_space()
    stored: dict[UUID, str] = {}
    wanted = [change.uuid for change in changes if change.uuid is not None]
    for start in range(0, len(wanted), WRITTEN_AT_ONCE):
        found = Memory.objects.filter(uuid__in=wanted[start : start + WRITTEN_AT_ONCE], embeddings__space=space)
        stored |= dict(found.values_list("uuid", "content"))
    texts = list(dict.fromkeys(
        change.draft.content
        for change in changes
        if change.uuid is None or stored.get(change.uuid) != change.draft.content
    ))  # fmt: skip
    vectors: dict[str, Vector] = {}
    for start in range(0, len(texts), EMBEDDED_AT_ONCE):
        part = texts[start : start + EMBEDDED_AT_ONCE]
        vectors |= dict(zip(part, embed(part), strict=True))
        progress(len(vectors), len(texts))
    return PreparedManaged(tuple(changes), space, vectors)


@transaction.atomic
def managed_write(
    *,
    manager: str,
    prepared: PreparedManaged,
    deletes: Mapping[UUID, str],
    actor: str,
    clock: Clock = SYSTEM_CLOCK,
) -> list[UUID]:
    """Write changes, and soft-delete memories, in the caller's transaction. Return the id of each change's memory.

    Memories of other managers, and unmanaged ones, are left alone. What is as it should be is not written. A memory
    whose change names another user is deleted, and a new one made for that user. deletes: id -> reason, in one word.

    Raises SpaceChangedError and ManagedChangedError (prepare again), UnavailableError, UserLockedError.
    """
    named = {change.uuid for change in prepared.changes if change.uuid is not None} | deletes.keys()
    users = {change.draft.scope.user_id or "" for change in prepared.changes}
    for part in parts(sorted(named)):
        rows = Memory.objects.filter(uuid__in=part, managed_by=manager)
        users |= set(rows.values_list("user_id", flat=True).distinct())
    if not users:
        return []
    versions = lock_shards(users)
    now = utcnow(clock)
    for part in parts(sorted(deletes)):
        unit = UnitOfWork(actor, now, versions)
        for row in read_rows(manager, part).values():
            delete(unit, row, deletes[row.uuid])
        unit.write()
    if prepared.space is None:
        return []
    hold_space(prepared.space)
    written: list[UUID] = []
    for chunk in parts(prepared.changes):
        unit = UnitOfWork(actor, now, versions)
        known = read_rows(manager, [change.uuid for change in chunk if change.uuid is not None])
        writer = ManagedWriter(unit, manager, prepared.space, prepared.vectors, known)
        written += [writer.write(change) for change in chunk]
        writer.finish()
    return written


def parts(items: Sequence[T]) -> list[Sequence[T]]:
    """Return items in groups that are written together."""
    return [items[start : start + WRITTEN_AT_ONCE] for start in range(0, len(items), WRITTEN_AT_ONCE)]


def read_rows(manager: str, uuids: Sequence[UUID]) -> dict[UUID, Memory]:
    """Return the memories of a manager with these ids, of any status."""
    rows = Memory.objects.filter(uuid__in=uuids, managed_by=manager).defer("lexemes").order_by("pk")
    return {row.uuid: row for row in rows}


def delete(unit: UnitOfWork, memory: Memory, reason: str) -> None:
    """Soft-delete a memory unless it is deleted."""
    if memory.status != MemoryStatus.DELETED:
        unit.delete(memory, reason=reason[:MAX_REASON_CHARS])


@dataclass(eq=False)
class ManagedWriter:
    """Writes changes of the memories of a manager. vectors: by content. rows: those that the changes name, by id."""

    unit: UnitOfWork
    manager: str
    space: EmbeddingSpace
    vectors: Mapping[str, Vector]
    rows: dict[UUID, Memory]

    def write(self, change: ManagedChange) -> UUID:
        """Note what a change does. Return the id of its memory. Raises ManagedChangedError."""
        wanted = self.new_row(change.draft)
        stored = self.rows.get(change.uuid) if change.uuid is not None else None
        reason = change.reason[:MAX_REASON_CHARS]
        if stored is not None and stored.user_id == wanted.user_id:
            self.update(stored, wanted, reason)
            return stored.uuid
        if stored is not None:
            delete(self.unit, stored, MOVED)
        words = {name: getattr(wanted, name) for name in _WORDS}
        for name, value in word_columns(**words).items():
            setattr(wanted, name, value)
        vector = self.vector_of(wanted.content, change.uuid)
        self.unit.insert(wanted, self.space, vector, is_given=False, reason=reason or CREATED)
        return wanted.uuid

    def new_row(self, draft: MemoryDraft) -> Memory:
        """Return the unsaved row of a draft, without what is made of its words."""
        row = new_memory(draft, draft.scope, {}, self.unit.now)
        row.content_hash, row.managed_by = content_hash(draft.content), self.manager
        row.metadata = json.loads(json.dumps(draft.metadata))  # as it will be read
        return row

    def update(self, memory: Memory, wanted: Memory, reason: str) -> None:
        """Make a stored memory what it is to be; nothing is written if it is that already."""
        after: dict[str, Any] = {
            name: value for name in _COLUMNS if (value := getattr(wanted, name)) != getattr(memory, name)
        }
        changes = {name: [plain(getattr(memory, name)), plain(value)] for name, value in after.items()}
        action = RevisionAction.UPDATED
        event: Callable[..., EventPayload] = SAVED_AGAIN
        if memory.status != MemoryStatus.ACTIVE:
            changes["status"] = [str(memory.status), MemoryStatus.ACTIVE.value]
            after |= {"status": MemoryStatus.ACTIVE, "superseded_by": None, "status_changed_at": self.unit.now}
            action, event = RevisionAction.RESTORED, MemoryRestored
        if not after:
            return
        if after.keys() & set(_WORDS):
            after |= word_columns(**{name: getattr(wanted, name) for name in _WORDS})
        if "content" in changes:
            after["content_hash"] = wanted.content_hash
            self.replace_vector(memory, wanted.content)
        self.unit.update(memory, after, action=action, changes=changes, reason=reason, event=event)

    def replace_vector(self, memory: Memory, content: str) -> None:
        """Note the vector of a new content; the vectors of the old one are deleted, of whatever space."""
        vector = self.vector_of(content, None)
        self.unit.embeddings = [one for one in self.unit.embeddings if one.memory is not memory]
        self.unit.embeddings.append(MemoryEmbedding(memory=memory, space=self.space, vector=vector))

    def vector_of(self, content: str, uuid: UUID | None) -> Vector:
        """Return the vector of a content; uuid: of a memory that may have it. Raises ManagedChangedError."""
        if content in self.vectors:
            return self.vectors[content]
        stored = MemoryEmbedding.objects.filter(memory__content=content, space=self.space)
        found = None if uuid is None else stored.filter(memory__uuid=uuid).first()
        if found is None:
            raise ManagedChangedError
        return np.asarray(found.vector, dtype=np.float32)

    def finish(self) -> None:
        """Write what was noted."""
        rewritten = [one.memory.pk for one in self.unit.embeddings if one.memory.pk is not None]
        MemoryEmbedding.objects.filter(memory__in=rewritten)._raw_delete(MemoryEmbedding.objects.db)
        self.unit.write()
