"""The write path (DESIGN D5): hash, exact duplicate, embed, and one transaction per call."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from django.conf import settings
from django.db import connection, transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import MemoryHubError, UnavailableError
from apps.core.domain.scope import Access, Scope
from apps.events.services import emit_many
from apps.llm.models import EmbeddingSpace
from apps.semantic.bulk import insert_embeddings, insert_memories, insert_revisions
from apps.semantic.domain.duplicates import DuplicateAction, DuplicateDecision, content_hash, decide_duplicate
from apps.semantic.domain.lexemes import LEXEMES_VERSION, memory_lexemes
from apps.semantic.domain.memory import DEFAULT_IMPORTANCE, DEFAULT_SOURCE, TAGS, MemoryDraft
from apps.semantic.domain.substance import fullness, question_share
from apps.semantic.embedding import SpaceChangedError, current_space, embed, given_vector, with_current_space
from apps.semantic.events import MemorySaved, SaveAction, change_fields
from apps.semantic.models import Memory, MemoryEmbedding, MemoryRevision, RevisionAction

_TRIES = 5

Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class SaveResult:
    """What a save did: `inserted`, `updated` or `skipped`, the reason, and the memory as it is now."""

    action: str
    reason: str
    memory: Memory


SaveOutcome = SaveResult | MemoryHubError


@dataclass(frozen=True, eq=False)
class _Prepared:
    """A draft with all that can be computed outside a transaction."""

    draft: MemoryDraft
    scope: Scope
    key: Key
    words: Mapping[str, Any]
    vector: npt.NDArray[np.float32] | None


class _VectorMissingError(Exception):
    """A duplicate seen before the transaction was gone inside it, so its vector was not computed."""


def memory_save(*, access: Access, draft: MemoryDraft, clock: Clock = SYSTEM_CLOCK) -> SaveResult:
    """Save one memory. Raises MemoryHubError when it cannot be saved; then nothing was written."""
    [outcome] = memory_save_many(access=access, drafts=[draft], clock=clock)
    if isinstance(outcome, MemoryHubError):
        raise outcome
    return outcome


def memory_save_many(
    *, access: Access, drafts: Sequence[MemoryDraft], clock: Clock = SYSTEM_CLOCK
) -> list[SaveOutcome]:
    """Save memories in one transaction; gives one outcome per draft, in order.

    A draft that cannot be saved gives its error and keeps no other from being saved. Raises UnavailableError
    when the embedding model does not answer; then nothing was written.
    """
    return with_current_space(lambda _: save_write(prepared=save_prepare(access=access, drafts=drafts), clock=clock))


@dataclass(frozen=True, eq=False)
class PreparedSaves:
    """Drafts that are hashed and embedded, on their way into the database; errors stand in their places."""

    items: "Sequence[_Prepared | MemoryHubError]"
    space: EmbeddingSpace
    actor: str


def save_prepare(*, access: Access, drafts: Sequence[MemoryDraft]) -> PreparedSaves:
    """The slow half of a save, which holds no lock and no transaction. Raises UnavailableError."""
    space = current_space()
    items = [_prepare(access, draft, space) for draft in drafts]
    ready = iter(_with_vectors([item for item in items if isinstance(item, _Prepared)]))
    return PreparedSaves([next(ready) if isinstance(item, _Prepared) else item for item in items], space, access.actor)


def save_write(*, prepared: PreparedSaves, clock: Clock = SYSTEM_CLOCK) -> list[SaveOutcome]:
    """The quick half of a save: one transaction. One outcome per draft, in order."""
    ready = [item for item in prepared.items if isinstance(item, _Prepared)]
    results = iter(_write(ready, prepared.space, prepared.actor, clock))
    return [next(results) if isinstance(item, _Prepared) else item for item in prepared.items]


def _prepare(access: Access, draft: MemoryDraft, space: EmbeddingSpace) -> _Prepared | MemoryHubError:
    try:
        scope = access.for_write(draft.scope, settings.MEMORYHUB.default_user)
        vector = None if draft.embedding is None else given_vector(draft.embedding, space)
    except MemoryHubError as error:
        return error
    key = (scope.user_id or "", scope.household_id or "", scope.persona_id or "", content_hash(draft.content))
    words = word_columns(draft.content, draft.keywords, draft.context, draft.occurred_at)
    return _Prepared(draft, scope, key, words, vector)


def _write(ready: Sequence[_Prepared], space: EmbeddingSpace, actor: str, clock: Clock) -> list[SaveResult]:
    if not ready:
        return []
    for _ in range(_TRIES):
        try:
            with transaction.atomic():
                return _Writer(space, actor, utcnow(clock)).write(ready)
        except _VectorMissingError:
            ready = _with_vectors(ready)
    raise UnavailableError("Too many others write the same memories. Try again shortly.", retry_after=1)


def _with_vectors(prepared: Sequence[_Prepared]) -> list[_Prepared]:
    """The drafts with their vectors; those that are duplicates already need none."""
    known = set(_active_by_key(item.key for item in prepared))
    missing = [item for item in prepared if item.vector is None and item.key not in known]
    wanted: dict[Key, str] = {}
    for item in missing:
        wanted.setdefault(item.key, item.draft.content)  # of several, the first is the one that is stored
    if not wanted:
        return list(prepared)
    vectors = dict(zip(wanted, embed(list(wanted.values())), strict=True))
    return [item if item.vector is not None else replace(item, vector=vectors.get(item.key)) for item in prepared]


def _active_by_key(keys: Iterable[Key]) -> dict[Key, Memory]:
    keys = set(keys)
    rows = Memory.objects.active().filter(
        user_id__in={key[0] for key in keys}, content_hash__in={key[3] for key in keys}
    )
    found = {(row.user_id, row.household_id, row.persona_id, row.content_hash): row for row in rows}
    return {key: row for key, row in found.items() if key in keys}


def lock_shards(users: Iterable[str]) -> Mapping[str, int]:
    """Put this transaction in the line of writers of each user; gives the version that its changes carry."""
    with connection.cursor() as cursor:
        # Sorted, so that two transactions never wait for each other.
        cursor.execute(
            "INSERT INTO semantic_memoryshard (user_id, version, reset_version) "
            "SELECT u, 1, 0 FROM unnest(%s::text[]) AS u "
            "ON CONFLICT (user_id) DO UPDATE SET version = semantic_memoryshard.version + 1 "
            "RETURNING user_id, version",
            [sorted(set(users))],
        )
        return dict(cursor.fetchall())


def hold_space(space: EmbeddingSpace) -> None:
    """Keep the active space from changing until the transaction ends. Raises SpaceChangedError if it has."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM llm_embeddingspace WHERE id = %s AND is_active FOR SHARE", [space.pk])
        if cursor.fetchone() is None:
            raise SpaceChangedError


class _Writer:
    """Applies the duplicate decision to each draft, inside the caller's transaction."""

    def __init__(self, space: EmbeddingSpace, actor: str, now: datetime) -> None:
        self._space, self._actor, self._now = space, actor, now
        self._embeddings: list[MemoryEmbedding] = []
        self._inserted: list[Memory] = []
        self._revisions: list[MemoryRevision] = []
        self._saved: list[tuple[Memory, SaveAction]] = []

    def write(self, prepared: Sequence[_Prepared]) -> list[SaveResult]:
        self._versions = lock_shards(item.key[0] for item in prepared)
        hold_space(self._space)
        self._stored = _active_by_key(item.key for item in prepared)
        results = [self._write_one(item) for item in prepared]
        if self._inserted:
            insert_memories(self._inserted)
            insert_embeddings(self._embeddings)
        if self._revisions:
            insert_revisions(self._revisions)
        emit_many([self._event(memory, action) for memory, action in self._saved])
        return results

    def _write_one(self, item: _Prepared) -> SaveResult:
        stored = self._stored.get(item.key)
        decision = decide_duplicate(item.draft.base_confidence, stored.base_confidence if stored else None)
        if stored is None:
            return SaveResult("inserted", decision.reason, self._insert(item, decision))
        if decision.action is DuplicateAction.UPDATE:
            self._update(stored, item.draft, decision)
            return SaveResult("updated", decision.reason, stored)
        return SaveResult("skipped", decision.reason, stored)

    def _insert(self, item: _Prepared, decision: DuplicateDecision) -> Memory:
        if item.vector is None:
            raise _VectorMissingError
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


def word_columns(content: str, keywords: Iterable[str], context: str, occurred_at: datetime | None) -> dict[str, Any]:
    """The columns of a memory that are made from its words."""
    return {
        "lexemes": memory_lexemes(content, keywords, context, occurred_at),
        "question_share": question_share(content),
        "fullness": fullness(content),
        "lexemes_version": LEXEMES_VERSION,
    }


def new_memory(draft: MemoryDraft, scope: Scope, words: Mapping[str, Any], now: datetime) -> Memory:
    """The unsaved row of a draft."""
    return Memory(
        **scope.named(),
        **words,
        **{tag: getattr(draft, tag) for tag in TAGS},
        content=draft.content,
        is_global=draft.is_global,
        decay_policy=draft.decay_policy,
        importance=DEFAULT_IMPORTANCE if draft.importance is None else draft.importance,
        keywords=list(draft.keywords),
        source=draft.source or DEFAULT_SOURCE,
        occurred_at=draft.occurred_at,
        session_id=draft.session_id,
        context=draft.context,
        metadata=draft.metadata,
        created_at=now,
        updated_at=now,
    )
