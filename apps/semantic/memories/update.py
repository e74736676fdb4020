"""Change what is stored of a memory: its content, and all that is known besides it (docs/guides/memories.md)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from apps.core.db.memberships import WriteScopes
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, InvalidInputError, StaleVersionError, UnavailableError
from apps.core.domain.json_shape import json_excess
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Access, Scope
from apps.core.pauses import require_saving
from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain.content import content_hash
from apps.rules.domain.engine.verdict import decide
from apps.rules.selectors import active_rules
from apps.semantic.conflicts.candidate import Candidate, Case, SaveContext
from apps.semantic.conflicts.decisions import decision_apply
from apps.semantic.domain.details import apply_merge_patch
from apps.semantic.domain.memory import TAGS, MemoryDraft
from apps.semantic.index.health import index_guard
from apps.semantic.index.warm_up import require_warm
from apps.semantic.memories.bring_back import EXPIRED
from apps.semantic.memories.comparison import Comparison, compare, compare_again
from apps.semantic.memories.lifecycle import require_active, require_unmanaged
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import Conflict, Memory, MemoryEmbedding, Origin, ReviewState
from apps.semantic.selectors import memory_get_any
from apps.semantic.store.embedding_space import (
    TextVectors,
    VectorsMissingError,
    embed,
    given_vector,
    hold_space,
    with_current_space,
)
from apps.semantic.store.rows import Vector, dated_key, draft_key, key_after, word_columns
from apps.semantic.store.unit_of_work import UnitOfWork, lock_shards, unit_of_work

UNCHANGED, EDITED = "unchanged", "edited"
_TRIES = 10
_WORDS = frozenset({"content", "keywords", "context", "occurred_at"})
MADE_PRIVATE, SHARED = "made_private", "shared"


@dataclass(frozen=True)
class MemoryEdit:
    """What a caller changes of a memory.

    fields: new values by column; of `metadata` a merge patch (RFC 7386). embedding: of a new content, of any length;
    None to have it made. versions: of which it may be one, None for any.
    """

    fields: Mapping[str, Any]
    embedding: Vector | None = None
    versions: tuple[str, ...] | None = None


def memory_update(*, access: Access, uuid: UUID, edit: MemoryEdit, clock: Clock = SYSTEM_CLOCK) -> SaveResult:
    """Change an active memory of the caller's. What it was stays in its history.

    A new content is embedded, and held against other memories as if it were saved: rules may decide that one of them
    is superseded by it, or it by one of them; then `action` says so and there is a receipt, which can be reverted.

    Its origin becomes that of who gave it the new words. What a less trusted writer put beside the old ones goes.

    Raises NotFoundError; InvalidInputError; ForbiddenError for a memory of a higher origin than the caller's, unless an
    operator; ConflictError for a memory that is not active or managed, when another one
    has the content already, or while its user has paused saving; StaleVersionError when the memory has another version;
    UnavailableError.
    """
    require_warm()
    index_guard().admit(1, clock=clock)
    memory = memory_get_any(access, uuid)
    require_current(access, memory, edit)
    content = edit.fields.get("content", memory.content)
    if content != memory.content:
        require_saving(access, memory.user_id, clock=clock)
    if content == memory.content and edit.embedding is None:
        with unit_of_work(memory.user_id, actor=access.actor, clock=clock) as unit:
            memory = memory_get_any(access, uuid)
            require_current(access, memory, edit)
            if memory.content == content:
                changed = change_fields(unit, memory, edit)
                return SaveResult("updated" if changed else "skipped", EDITED if changed else UNCHANGED, memory)
    return with_current_space(lambda space: rewrite(access, uuid, edit, space, clock))


def require_current(access: Access, memory: Memory, edit: MemoryEdit) -> None:
    """Raise ConflictError for a memory that is not active or managed, StaleVersionError for one of another version.

    Raises ForbiddenError for one of a higher origin than the caller's.
    """
    require_active(access, memory)
    require_unmanaged(memory)
    access.require_origin(WriteOrigin(memory.origin))
    if edit.versions is not None and memory.version_tag not in edit.versions:
        raise StaleVersionError("The memory has changed since. Read it again, then decide.")


def rewrite(access: Access, uuid: UUID, edit: MemoryEdit, space: EmbeddingSpace, clock: Clock) -> SaveResult:
    """Give a memory another content. Raises SpaceChangedError, and what `memory_update` raises."""
    content = edit.fields["content"]
    vector = embed([content])[0] if edit.embedding is None else given_vector(edit.embedding, space)
    for _ in range(_TRIES):
        memory = memory_get_any(access, uuid)
        require_current(access, memory, edit)
        context = SaveContext(space, active_rules(), TextVectors(space.dimension))
        now = utcnow(clock)
        fields = dict(edit.fields)
        if WriteOrigin(memory.origin).is_below(access.origin):
            # What was beside the old words goes unless it is given anew: a person who corrects a memory vouches for the
            # words alone (DESIGN D20).
            fields = {"context": "", "keywords": [], **fields}
            fields["metadata"] = {**dict.fromkeys(memory.metadata), **fields.get("metadata", {})}
        edit = replace(edit, fields={**fields, "origin": access.origin})
        known = {
            name: edit.fields.get(name, getattr(memory, name))
            for name in (*TAGS, "is_global", "content", "occurred_at", "importance", "origin")
        }
        draft = MemoryDraft(
            **known,
            scope=memory.scope,
            confidence=memory.base_confidence,
            keywords=tuple(edit.fields.get("keywords", memory.keywords)),
            source=memory.source,
        )
        key = draft_key(draft, memory.scope, content_hash(content))
        candidate = Candidate(memory.uuid, draft, memory.scope, key, {}, vector, stored=memory.pk)
        written = write_until_embedded(access, memory, context, compare([candidate], context, now), edit)
        if written is not None:
            return written
    raise UnavailableError("The memory keeps changing: try again.", retry_after=1)


def write_until_embedded(
    access: Access, compared: Memory, context: SaveContext, comparison: Comparison, edit: MemoryEdit
) -> SaveResult | None:
    """Write a new content, and decide about it. Return None where the memory has changed since it was compared."""
    for _ in range(_TRIES):
        try:
            with transaction.atomic():
                versions = lock_shards([compared.user_id])
                hold_space(context.space)
                compare_again(comparison, versions, context.space)
                memory = memory_get_any(access, compared.uuid)
                require_current(access, memory, edit)
                if memory.version != compared.version:
                    return None
                unit = UnitOfWork(access.actor, comparison.now, versions)
                return write(unit, unit.attach(memory), context, comparison, edit)
        except VectorsMissingError:
            context.vectors.embed_missing()
    raise UnavailableError("The memory that this one merges into keeps changing: try again.", retry_after=1)


def write(
    unit: UnitOfWork, memory: Memory, context: SaveContext, comparison: Comparison, edit: MemoryEdit
) -> SaveResult:
    """Write a new content under the lock of its user. Raises ConflictError, VectorsMissingError."""
    [candidate], [found] = comparison.candidates, comparison.conflicts
    if not change_fields(unit, memory, edit):
        unit.touch(memory, ())  # the same words with another vector
    # Written now: a merge may look for this content, and the history of a decision must come after that of the change.
    MemoryEmbedding.objects.update_or_create(
        memory=memory,
        space=context.space,
        defaults={"vector": candidate.vector, "is_given": edit.embedding is not None},
    )
    # A space that is being filled, or was in use before, has a vector of the old words: it is made when it is needed.
    MemoryEmbedding.objects.filter(memory=memory).exclude(space=context.space).delete()
    ids = [comparison.ids[key] for key in found]
    rows = Memory.objects.active().filter(pk__in=ids).select_related("superseded_by")
    memories = {str(row.uuid): unit.attach(row) for row in rows} | {candidate.record.key: memory}
    conflicts = [conflict for key, conflict in found.items() if key in memories]
    outdate_notices(unit, memory)
    verdict = decide(candidate.record, conflicts, candidate.rule.arbitration)
    result = SaveResult("updated", EDITED, memory)
    if verdict is not None:
        case = Case(verdict, candidate.record, candidate.rule, memories, Origin.SAVE, reason=EDITED)
        receipt = decision_apply(unit, context, case)
        if context.vectors.missing:
            raise VectorsMissingError
        outcome = "updated" if receipt.result is None else str(receipt.outcome)
        result = SaveResult(outcome, receipt.strategy or EDITED, receipt.result or memory, receipt.uuid)
    unit.write()
    return result


def outdate_notices(unit: UnitOfWork, memory: Memory) -> None:
    """Close what was noticed about the former words of a memory, and not decided: the new ones are compared again."""
    Conflict.objects.open_notices_of(memory).update(
        state=ReviewState.OUTDATED, reviewed_by=unit.actor, reviewed_at=unit.now
    )


def change_fields(unit: UnitOfWork, memory: Memory, edit: MemoryEdit) -> bool:
    """Set the fields of a memory that differ, and what is made from its words. Return whether any did.

    Raises ConflictError where another active memory has the content, tags and moment that this one would have, and
    InvalidInputError where the metadata would grow beyond what a save may have.
    """
    wanted = dict(edit.fields)
    if "metadata" in wanted:
        patched = wanted["metadata"] = apply_merge_patch(memory.metadata, wanted["metadata"])
        # What was merged of several memories may be larger than a save may be, and becomes smaller step by step.
        excess = json_excess(patched)
        if excess is not None and len(json.dumps(patched)) >= len(json.dumps(memory.metadata)):
            code, limit = excess
            raise InvalidInputError(f"The metadata would be {limit} after this patch.", attr="metadata", code=code)
    after = {name: value for name, value in wanted.items() if plain(getattr(memory, name)) != plain(value)}
    if not after:
        return False
    changes = {name: [plain(getattr(memory, name)), plain(value)] for name, value in after.items()}
    if after.keys() & _WORDS:
        after |= word_columns(**{name: after.get(name, getattr(memory, name)) for name in sorted(_WORDS)})
    if "content" in after:
        after["content_hash"] = content_hash(after["content"])
    key = key_after(memory, after)
    known = None
    if key != dated_key(memory):
        known = Memory.objects.active().with_key(*key).exclude(pk=memory.pk).first()
    if known is not None and known.has_expired(unit.now):  # and no sweep came by yet
        unit.delete(unit.attach(known), reason=EXPIRED)
    elif known is not None:
        attr = next(name for name in ("content", "occurred_at", *TAGS) if name in after)
        detail = f"{known.uuid} says exactly this already, with the same tags and of the same moment."
        raise ConflictError(detail, attr=attr, code="duplicate", current=str(known.uuid))
    unit.update(memory, after, changes=changes, reason=EDITED)
    return True


def plain(value: Any) -> Any:
    """Return a value as the history keeps it."""
    return value.isoformat() if isinstance(value, datetime) else value


def memory_set_household(*, access: Access, uuid: UUID, household_id: str, clock: Clock = SYSTEM_CLOCK) -> Memory:
    """Give an active memory another household, none for a blank id. It is in its history, and done again the other way.

    What was decided between it and others goes with a memory that becomes private, since receipts have its words; what
    was noticed and not decided is over, since the two are not compared any more. Raises NotFoundError; ConflictError
    for a memory that is not active or managed, and where the same is known there; ForbiddenError for a household that
    the user does not belong to.
    """
    user = memory_get_any(access, uuid).user_id
    with unit_of_work(user, actor=access.actor, clock=clock) as unit:
        memory = memory_get_any(access, uuid)
        require_active(access, memory)
        require_unmanaged(memory)
        if memory.household_id == household_id:
            return memory
        if household_id:
            WriteScopes(access).settle(Scope(user, household_id))
        after = {"household_id": household_id}
        if Memory.objects.active().with_key(*key_after(memory, after)).exclude(pk=memory.pk).exists():
            raise ConflictError("This is already known there.", code="duplicate")
        outdate_notices(unit, memory)
        if not household_id:
            about = Q(candidate=memory) | Q(existing=memory) | Q(result=memory)
            Conflict.objects.filter(about).update(household_id="")
        unit.update(memory, after, reason=SHARED if household_id else MADE_PRIVATE)
    return memory
