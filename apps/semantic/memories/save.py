"""The write path (DESIGN D5): hash, find duplicates, embed, compare, and one transaction per call."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from django.conf import settings
from django.db import transaction

from apps.core.db.memberships import WriteScopes, ties_make
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import MemoryHubError, UnavailableError
from apps.core.domain.latency import monotonic_ms
from apps.core.domain.scope import Access, Scope
from apps.core.pauses import refuse_paused
from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain.content import content_hash
from apps.rules.selectors import active_rules
from apps.semantic.conflicts.candidate import Candidate, SaveContext
from apps.semantic.domain.duplicates import DatedKey
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.index.health import index_guard
from apps.semantic.index.warm_up import require_warm
from apps.semantic.memories.comparison import compare, compare_again
from apps.semantic.memories.writer import SaveResult, Writer
from apps.semantic.store.embedding_space import (
    TextVectors,
    VectorsMissingError,
    current_space,
    embed,
    given_vector,
    hold_space,
    with_current_space,
)
from apps.semantic.store.rows import draft_key, find_duplicates, word_columns
from apps.semantic.store.unit_of_work import UnitOfWork, lock_shards

_TRIES = 10
# A batch is no slow write for being large: every twenty memories of it may take as long as one alone.
MEMORIES_PER_WRITE = 20

SaveOutcome = SaveResult | MemoryHubError


@dataclass(frozen=True, eq=False)
class PreparedSaves:
    """Candidates that are hashed and embedded, on their way into the database; errors are in their places.

    claims: the ties to households and personas that their rows make.
    """

    items: Sequence[Candidate | MemoryHubError]
    space: EmbeddingSpace
    actor: str
    claims: Collection[Scope] = ()


def memory_save(*, access: Access, draft: MemoryDraft, clock: Clock = SYSTEM_CLOCK) -> SaveResult:
    """Save one memory. Raises MemoryHubError when it cannot be saved; then nothing was written."""
    [outcome] = memory_save_many(access=access, drafts=[draft], clock=clock)
    if isinstance(outcome, MemoryHubError):
        raise outcome
    return outcome


def memory_save_many(
    *, access: Access, drafts: Sequence[MemoryDraft], clock: Clock = SYSTEM_CLOCK
) -> list[SaveOutcome]:
    """Save memories in one transaction. Return one outcome per draft, in order.

    A draft that cannot be saved, or whose user has paused saving, has its error as outcome, and keeps no other from
    being saved. Raises UnavailableError when the embedding model does not answer or the index is still being loaded,
    ThrottledError while the index is degraded and busy; then nothing was written.
    """
    require_warm()
    index_guard().admit(len(drafts), clock=clock)

    def save() -> list[SaveOutcome]:
        prepared = save_prepare(access=access, drafts=drafts)
        items = refuse_paused(access, prepared.items, lambda one: one.key.user_id, clock=clock)
        return save_write(prepared=replace(prepared, items=items), clock=clock)

    return with_current_space(lambda _: save())


def save_prepare(*, access: Access, drafts: Sequence[MemoryDraft]) -> PreparedSaves:
    """Run the slow half of a save, which holds no lock and no transaction. Raises UnavailableError."""
    space, scopes = current_space(), WriteScopes(access, settings.MEMORYHUB.default_user)
    items: list[Candidate | MemoryHubError] = []
    for draft in drafts:
        try:
            draft = replace(draft, origin=access.write_origin(draft.origin))
            scope = scopes.settle(draft.scope)
            vector = None if draft.embedding is None else given_vector(draft.embedding, space)
        except MemoryHubError as error:
            items.append(error)
            continue
        key = draft_key(draft, scope, content_hash(draft.content))
        words = word_columns(draft.content, draft.keywords, draft.context, draft.occurred_at)
        items.append(Candidate(uuid4(), draft, scope, key, words, vector))
    candidates = [item for item in items if isinstance(item, Candidate)]
    active, decided = find_duplicates({one.dated_key for one in candidates})
    duplicates = active.keys() | decided.keys()  # which need no vector
    wanted: dict[DatedKey, str] = {}
    for one in candidates:
        if one.vector is None and one.dated_key not in duplicates:
            wanted.setdefault(one.dated_key, one.draft.content)  # of several, the first is the one that is stored
    if wanted:
        texts = list(dict.fromkeys(wanted.values()))
        vectors = dict(zip(texts, embed(texts), strict=True))
        for one in candidates:
            if one.vector is None and one.dated_key in wanted:
                one.vector = vectors[wanted[one.dated_key]]
    return PreparedSaves(items, space, access.actor, scopes.claims)


def save_write(*, prepared: PreparedSaves, clock: Clock = SYSTEM_CLOCK) -> list[SaveOutcome]:
    """Run the quick half of a save: compare without a lock, then decide and write in one transaction.

    Return one outcome per draft, in order. Raises UnavailableError, SpaceChangedError.
    """
    candidates, started = [item for item in prepared.items if isinstance(item, Candidate)], monotonic_ms()
    if not candidates:
        return [item for item in prepared.items if isinstance(item, MemoryHubError)]
    context = SaveContext(prepared.space, active_rules(), TextVectors(prepared.space.dimension))
    now = utcnow(clock)
    comparison = compare(candidates, context, now)
    for _ in range(_TRIES):
        try:
            with transaction.atomic():
                versions = lock_shards(one.key.user_id for one in candidates)
                ties_make(prepared.claims, made_by=prepared.actor, made_at=now)
                hold_space(prepared.space)
                compare_again(comparison, versions, prepared.space)
                unit = UnitOfWork(prepared.actor, now, versions)
                results = iter(Writer(unit, context, comparison).write())
        except VectorsMissingError:
            context.vectors.embed_missing()
        else:
            index_guard().note_write(
                (monotonic_ms() - started) / math.ceil(len(candidates) / MEMORIES_PER_WRITE), clock=clock
            )
            return [next(results) if isinstance(item, Candidate) else item for item in prepared.items]
        unembedded = [one for one in candidates if one.vector is None]
        for one in unembedded:
            # A duplicate when it was prepared, and none any more: it has not been compared with anything yet.
            one.vector = context.vectors.known.get(one.draft.content)
        if unembedded:
            comparison = compare(candidates, context, now)
    detail = (
        "Others write the same memories, or these merge with each other too often: try again, or save fewer at once."
    )
    raise UnavailableError(detail, retry_after=1)
