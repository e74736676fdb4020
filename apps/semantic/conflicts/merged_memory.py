"""The memory that two are merged into: what `rules.domain.engine.merge` says of it, and everything around that."""

from datetime import datetime

from apps.core.domain.origin import WriteOrigin, lowest_origin
from apps.retrieval.domain.content import content_hash
from apps.rules.domain.engine.merge import MergeResult
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.domain.details import add_sessions, merge_metadata
from apps.semantic.domain.memory import TAGS, MemoryDraft
from apps.semantic.models import Memory
from apps.semantic.store.details import details_of
from apps.semantic.store.rows import new_memory, word_columns

# The one that lasts longest first.
_LASTING = (DecayPolicy.STABLE, DecayPolicy.REINFORCEABLE, DecayPolicy.CONTEXTUAL)


def merged_memory(existing: Memory, candidate: Memory, merged: MergeResult, now: datetime) -> Memory:
    """Return the unsaved row of two merged memories, in their scope.

    Where the rule says nothing, nothing is lost: tags of the candidate before those of the existing one, the policy
    that lasts longer, the higher confidence, both contexts (each line once: a merged memory may be merged again), the
    metadata of both, of which the candidate's prevails. The origin is the lower one.
    """
    dates = [one.occurred_at for one in (candidate, existing) if one.occurred_at is not None]
    # In the offset of its writer, which the rule engine does not know.
    date = next((one for one in dates if one == merged.timestamp), merged.timestamp)
    lines = f"{existing.context}\n{candidate.context}".split("\n")
    draft = MemoryDraft(
        content=merged.content,
        **{tag: getattr(candidate, tag) or getattr(existing, tag) for tag in TAGS},
        is_global=existing.is_global or candidate.is_global,
        decay_policy=min(DecayPolicy(existing.decay_policy), DecayPolicy(candidate.decay_policy), key=_LASTING.index),
        importance=merged.importance,
        keywords=merged.keywords,
        source=merged.source,
        origin=lowest_origin(WriteOrigin(one.origin) for one in (existing, candidate)),
        occurred_at=date if dates else None,
        session_id=candidate.session_id or existing.session_id,
        context="\n".join(dict.fromkeys(line for line in lines if line)),
        metadata=merge_metadata(existing.metadata, candidate.metadata, kept=candidate.metadata),
    )
    words = word_columns(draft.content, draft.keywords, draft.context, draft.occurred_at)
    memory = new_memory(draft, candidate.scope, words, now)
    memory.content_hash = content_hash(draft.content)
    memory.further_sessions = list(add_sessions(details_of(candidate), details_of(existing)))
    memory.base_confidence = max(existing.base_confidence, candidate.base_confidence)
    reinforced = [one.last_reinforced_at for one in (existing, candidate) if one.last_reinforced_at is not None]
    memory.last_reinforced_at = max(reinforced, default=None)
    return memory
