"""The memory that two become: what `rules.domain.merging` says of it, and what surrounds that."""

from collections.abc import Iterable
from datetime import datetime

from apps.retrieval.domain.content import content_hash
from apps.rules.domain.engine.merge import MergeResult
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.domain.memory import TAGS, MemoryDraft
from apps.semantic.memories.prepare import new_memory, word_columns
from apps.semantic.models import Memory

# The one that lasts longest first.
_LASTING = (DecayPolicy.STABLE, DecayPolicy.REINFORCEABLE, DecayPolicy.CONTEXTUAL)


def merged_memory(existing: Memory, candidate: Memory, merged: MergeResult, now: datetime) -> Memory:
    """The unsaved row of two merged memories, in their scope.

    Where the rule says nothing, nothing is lost: tags of the candidate before those of the existing one, the policy
    that lasts longer, the higher confidence, both contexts, the metadata of both with the candidate's on top.
    """
    draft = _draft(existing, candidate, merged)
    words = word_columns(draft.content, draft.keywords, draft.context, draft.occurred_at)
    memory = new_memory(draft, candidate.scope, words, now)
    memory.content_hash = content_hash(draft.content)
    memory.base_confidence = max(existing.base_confidence, candidate.base_confidence)
    memory.last_reinforced_at = _latest((existing.last_reinforced_at, candidate.last_reinforced_at))
    return memory


def _draft(existing: Memory, candidate: Memory, merged: MergeResult) -> MemoryDraft:
    tags = {tag: getattr(candidate, tag) or getattr(existing, tag) for tag in TAGS}
    dated = existing.occurred_at is not None or candidate.occurred_at is not None
    return MemoryDraft(
        content=merged.content,
        **tags,
        is_global=existing.is_global or candidate.is_global,
        decay_policy=min(DecayPolicy(existing.decay_policy), DecayPolicy(candidate.decay_policy), key=_LASTING.index),
        importance=merged.importance,
        keywords=merged.keywords,
        source=merged.source,
        occurred_at=merged.timestamp if dated else None,
        session_id=candidate.session_id or existing.session_id,
        context=_lines_once(existing.context, candidate.context),
        metadata={**existing.metadata, **candidate.metadata},
    )


def _lines_once(*texts: str) -> str:
    """The lines of all, each once: a merged memory may be merged with more that tell the same circumstances."""
    return "\n".join(dict.fromkeys(line for text in texts for line in text.split("\n") if line))


def _latest(moments: Iterable[datetime | None]) -> datetime | None:
    return max((moment for moment in moments if moment is not None), default=None)
