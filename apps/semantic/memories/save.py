"""The write path (DESIGN D5): hash, exact duplicate, embed, compare, and one transaction per call."""

import math
from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import MemoryHubError, UnavailableError
from apps.core.domain.latency import monotonic_ms
from apps.core.domain.scope import Access
from apps.llm.selectors import EmbeddingSpace
from apps.rules.selectors import active_rules
from apps.semantic.conflicts.decisions import Vectors, VectorsMissingError
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.index.health import index_guard
from apps.semantic.index.warm_up import require_warm
from apps.semantic.memories.comparison import compare, subjects_of
from apps.semantic.memories.prepare import Candidate, PreparedSaves, prepare_draft, with_vectors
from apps.semantic.memories.writer import SaveResult, Writer, Writing
from apps.semantic.store.embedding_space import current_space, embed, with_current_space
from apps.semantic.store.locks import hold_space, lock_shards
from apps.semantic.store.unit_of_work import UnitOfWork

_TRIES = 10
# A batch is no slow write for being large: every twenty memories of it may take as long as one alone.
MEMORIES_PER_WRITE = 20

SaveOutcome = SaveResult | MemoryHubError


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
    when the embedding model does not answer or the index is still being loaded, ThrottledError while the index is
    degraded and busy; then nothing was written.
    """
    require_warm()
    index_guard().admit(len(drafts), clock=clock)
    return with_current_space(lambda _: save_write(prepared=save_prepare(access=access, drafts=drafts), clock=clock))


def save_prepare(*, access: Access, drafts: Sequence[MemoryDraft]) -> PreparedSaves:
    """The slow half of a save, which holds no lock and no transaction. Raises UnavailableError."""
    space = current_space()
    items = [prepare_draft(access, draft, space) for draft in drafts]
    ready = iter(with_vectors([item for item in items if isinstance(item, Candidate)]))
    return PreparedSaves([next(ready) if isinstance(item, Candidate) else item for item in items], space, access.actor)


def save_write(*, prepared: PreparedSaves, clock: Clock = SYSTEM_CLOCK) -> list[SaveOutcome]:
    """The quick half of a save: one transaction. One outcome per draft, in order."""
    ready, started = [item for item in prepared.items if isinstance(item, Candidate)], monotonic_ms()
    results = iter(_write(ready, prepared.space, prepared.actor, clock))
    if ready:
        index_guard().note_write((monotonic_ms() - started) / math.ceil(len(ready) / MEMORIES_PER_WRITE), clock=clock)
    return [next(results) if isinstance(item, Candidate) else item for item in prepared.items]


def _write(ready: Sequence[Candidate], space: EmbeddingSpace, actor: str, clock: Clock) -> list[SaveResult]:
    """Compare without a lock, then decide and write with it."""
    if not ready:
        return []
    writing, now = Writing(space, active_rules(), Vectors(space.dimension)), utcnow(clock)
    comparison = compare(subjects_of(ready, writing.rules, now), space)
    for _ in range(_TRIES):
        try:
            with transaction.atomic():
                versions = lock_shards(item.key[0] for item in ready)
                hold_space(space)
                return Writer(UnitOfWork(actor, now, versions), writing, comparison).write(ready, versions)
        except VectorsMissingError:
            writing.vectors.supply(embed(writing.vectors.missing))
        if any(item.vector is None for item in ready):
            # What was a duplicate when it was prepared and is none now has not been compared with anything yet.
            ready = [_with_vector(item, writing.vectors) for item in ready]
            comparison = compare(subjects_of(ready, writing.rules, now), space)
    detail = (
        "Others write the same memories, or these merge with each other too often: try again, or save fewer at once."
    )
    raise UnavailableError(detail, retry_after=1)


def _with_vector(item: Candidate, vectors: Vectors) -> Candidate:
    return item if item.vector is not None else replace(item, vector=vectors.known(item.draft.content))
