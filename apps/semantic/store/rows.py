"""Rows of memories: made of drafts, found again as duplicates, and read as records for the rule engine."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Exists, F, OuterRef

from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Scope
from apps.llm.services import current_scale, known_share
from apps.retrieval.domain.lexemes import LEXEMES_VERSION, document_lexemes
from apps.retrieval.domain.substance import fullness, question_share
from apps.retrieval.domain.text.terms import tokenize
from apps.retrieval.domain.vectors.scale import PLAIN_SCALE
from apps.rules.domain.engine.record import MemoryRecord
from apps.semantic.domain.duplicates import DatedKey, DuplicateKey
from apps.semantic.domain.memory import DEFAULT_IMPORTANCE, DEFAULT_SOURCE, TAGS, MemoryDraft
from apps.semantic.models import Memory, MemoryRevision

Vector = npt.NDArray[np.float32]
# What a row has as its draft has it.
_AS_DRAFTED = [
    one.name
    for one in fields(MemoryDraft)
    if one.name not in {"scope", "importance", "confidence", "keywords", "source", "origin", "embedding"}
]
LOST = ("superseded", "merged", "rejected")
RECORD_COLUMNS = (
    "id", "uuid", "content", "importance", "source", "keywords", "user_id", "household_id", "persona_id", "occurred_at",
    "created_at", "agent", "personality", "project", "type", "is_global", "origin",
)  # fmt: skip


def duplicate_key(row: Memory) -> DuplicateKey:
    """Return what the duplicates of a memory have in common with it, besides the moment."""
    return DuplicateKey._make(getattr(row, name) for name in DuplicateKey._fields)


def dated_key(row: Memory) -> DatedKey:
    """Return what no other active memory has in common with this one."""
    return duplicate_key(row), row.occurred_at


def key_after(row: Memory, changes: Mapping[str, Any]) -> DatedKey:
    """Return the same of a memory after changes of columns, by name."""
    key = duplicate_key(row)._replace(**{name: changes[name] for name in changes if name in DuplicateKey._fields})
    return key, changes.get("occurred_at", row.occurred_at)


def draft_key(draft: MemoryDraft, scope: Scope, content_hash: str) -> DuplicateKey:
    """Return the key of the memory that a draft becomes."""
    exact = (scope.user_id or "", scope.household_id or "", scope.persona_id or "")
    return DuplicateKey._make((*exact, *(getattr(draft, tag) for tag in TAGS), content_hash))


def find_duplicates(wanted: Collection[DatedKey]) -> tuple[dict[DatedKey, Memory], dict[DatedKey, Memory]]:
    """Find the active memories with these keys, and those that lost to another memory with the same key and moment.

    Active of a key without a moment is that of no moment either, else that of the latest.

    Saving the same statement about the same date again, as a repeated import does, adds nothing, so it is not decided
    again. With another date it is news, so one content may have lost several times. It is decided again as well once
    the memory that it lost to is deleted or rewritten: else neither would be active, however often it is saved.
    """
    moments = {moment for _, moment in wanted if moment is not None}
    active, decided = dict[DatedKey, Memory](), dict[DatedKey, Memory]()
    if undated := [key for key, moment in wanted if moment is None]:
        rows = Memory.objects.active().filter(**having(undated)).distinct(*DuplicateKey._fields)
        latest = rows.order_by(*DuplicateKey._fields, F("occurred_at").desc(nulls_first=True))
        active = {(duplicate_key(row), None): row for row in latest}
    if moments:
        dated = having([key for key, moment in wanted if moment is not None]) | {"occurred_at__in": moments}
        active |= {dated_key(row): row for row in Memory.objects.active().filter(**dated)}
        lost = Memory.objects.filter(status__in=LOST, **dated).exclude(superseded_by__status="deleted")
        rewritten = MemoryRevision.objects.filter(
            memory=OuterRef("superseded_by"), at__gt=OuterRef("status_changed_at"), changes__has_key="content"
        )
        ended = lost.exclude(Exists(rewritten)).select_related("superseded_by").order_by("id")
        decided = {dated_key(row): row for row in ended}
    return (
        {key: row for key, row in active.items() if key in wanted},
        {key: row for key, row in decided.items() if key in wanted},
    )


def having(keys: Collection[DuplicateKey]) -> dict[str, Any]:
    """Return filters by which an index finds what may have one of these keys: by user and content, not managed."""
    users, contents = {key.user_id for key in keys}, {key.content_hash for key in keys}
    return {"user_id__in": users, "content_hash__in": contents, "managed_by": ""}


def word_columns(content: str, keywords: Iterable[str], context: str, occurred_at: datetime | None) -> dict[str, Any]:
    """Return the columns of a memory that are made from its words."""
    tokens = tokenize(content)
    return {
        "lexemes": document_lexemes(tokens, keywords, context, occurred_at),
        "question_share": question_share(content),
        "fullness": fullness(tokens),
        "lexemes_version": LEXEMES_VERSION,
    }


def new_memory(draft: MemoryDraft, scope: Scope, words: Mapping[str, Any], now: datetime) -> Memory:
    """Return the unsaved row of a draft. words: its `word_columns`."""
    return Memory(
        **scope.named(),
        **words,
        **{name: getattr(draft, name) for name in _AS_DRAFTED},
        importance=DEFAULT_IMPORTANCE if draft.importance is None else draft.importance,
        base_confidence=draft.base_confidence,
        keywords=list(draft.keywords),
        source=draft.source or DEFAULT_SOURCE,
        origin=draft.origin or WriteOrigin.APP,
        created_at=now,
        updated_at=now,
    )


def record_from_memory(memory: Memory, vector: Vector | None) -> MemoryRecord:
    """Return a stored memory as the rule engine reads it."""
    return record_from_row([getattr(memory, column) for column in RECORD_COLUMNS], vector)


def record_from_row(row: Iterable[Any], vector: Vector | None) -> MemoryRecord:
    """Return a stored memory, of which only RECORD_COLUMNS were read, as the rule engine reads it."""
    (
        _, uuid, content, importance, source, keywords, user_id, household_id, persona_id, occurred_at, created_at,
        agent, personality, project, type_, is_global, origin,
    ) = row  # fmt: skip
    return MemoryRecord(
        key=str(uuid),
        content=content,
        timestamp=(occurred_at or created_at).astimezone(UTC),
        importance=importance,
        source=source,
        keywords=tuple(keywords),
        user_id=user_id,
        household_id=household_id or None,
        persona_id=persona_id or None,
        agent=agent,
        personality=personality,
        project=project,
        type=type_,
        is_global=is_global,
        origin=WriteOrigin(origin),
        known_share=known_share(content),
        embedding=vector,
        curve=(PLAIN_SCALE if vector is None else current_scale()).statements,
    )
