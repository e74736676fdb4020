"""Drafts on their way to becoming rows: scope, hash, words and vector, made before any lock is taken."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import numpy.typing as npt
from django.conf import settings

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Access, Scope
from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain.content import content_hash
from apps.retrieval.domain.lexemes import LEXEMES_VERSION, document_lexemes
from apps.retrieval.domain.substance import fullness, question_share
from apps.semantic.domain.memory import DEFAULT_IMPORTANCE, DEFAULT_SOURCE, TAGS, MemoryDraft
from apps.semantic.models import Memory
from apps.semantic.store.embedding_space import embed, given_vector

Key = tuple[str, str, str, str]
Moment = tuple[Key, datetime | None]
SETTLED = ("superseded", "merged", "rejected")


@dataclass(frozen=True, eq=False)
class Candidate:
    """A draft with all that can be computed outside a transaction. uuid: what its memory will be called."""

    uuid: UUID
    draft: MemoryDraft
    scope: Scope
    key: Key
    words: Mapping[str, Any]
    vector: npt.NDArray[np.float32] | None


@dataclass(frozen=True, eq=False)
class PreparedSaves:
    """Drafts that are hashed and embedded, on their way into the database; errors stand in their places."""

    items: Sequence[Candidate | MemoryHubError]
    space: EmbeddingSpace
    actor: str


def prepare_draft(access: Access, draft: MemoryDraft, space: EmbeddingSpace) -> Candidate | MemoryHubError:
    try:
        scope = access.for_write(draft.scope, settings.MEMORYHUB.default_user)
        vector = None if draft.embedding is None else given_vector(draft.embedding, space)
    except MemoryHubError as error:
        return error
    key = (scope.user_id or "", scope.household_id or "", scope.persona_id or "", content_hash(draft.content))
    words = word_columns(draft.content, draft.keywords, draft.context, draft.occurred_at)
    return Candidate(uuid4(), draft, scope, key, words, vector)


def with_vectors(prepared: Sequence[Candidate]) -> list[Candidate]:
    """The drafts with their vectors; those that are duplicates already need none."""
    active, settled = active_by_key(item.key for item in prepared), find_already_decided(prepared)
    missing = [
        item
        for item in prepared
        if item.vector is None and item.key not in active and (item.key, item.draft.occurred_at) not in settled
    ]
    wanted: dict[Key, str] = {}
    for item in missing:
        wanted.setdefault(item.key, item.draft.content)  # of several, the first is the one that is stored
    if not wanted:
        return list(prepared)
    vectors = dict(zip(wanted, embed(list(wanted.values())), strict=True))
    return [item if item.vector is not None else replace(item, vector=vectors.get(item.key)) for item in prepared]


def active_by_key(keys: Iterable[Key]) -> dict[Key, Memory]:
    keys = set(keys)
    rows = Memory.objects.active().filter(
        user_id__in={key[0] for key in keys}, content_hash__in={key[3] for key in keys}
    )
    found = {duplicate_key(row): row for row in rows}
    return {key: row for key, row in found.items() if key in keys}


def duplicate_key(row: Memory) -> Key:
    """By which exact duplicates of a memory are known."""
    return row.user_id, row.household_id, row.persona_id, row.content_hash


def find_already_decided(prepared: Sequence[Candidate]) -> dict[Moment, Memory]:
    """What was saved before and lost to another memory since, for drafts that say when it happened.

    The same statement of the same moment is not news: saving it again, as a repeated import does, decides nothing anew.
    Of another moment it is, so one content may have been settled several times. So it is once somebody has deleted the
    memory that it lost to: else neither would stand, however often it is said.
    """
    dated = {(item.key, item.draft.occurred_at) for item in prepared if item.draft.occurred_at is not None}
    if not dated:
        return {}
    same = Memory.objects.filter(
        status__in=SETTLED, user_id__in={key[0] for key, _ in dated}, content_hash__in={key[3] for key, _ in dated}
    )
    rows = same.exclude(superseded_by__status="deleted").select_related("superseded_by").order_by("id")
    found = {(duplicate_key(row), row.occurred_at): row for row in rows}
    return {moment: row for moment, row in found.items() if moment in dated}


def word_columns(content: str, keywords: Iterable[str], context: str, occurred_at: datetime | None) -> dict[str, Any]:
    """The columns of a memory that are made from its words."""
    return {
        "lexemes": document_lexemes(content, keywords, context, occurred_at),
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
