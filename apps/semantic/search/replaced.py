"""What the rules replaced by themselves stays visible: directly after what replaced it, marked (docs/decisions/0070).

Until a person or a client has said so, a rule's decision is a guess. A wrong one must not take a fact from answers, so
for some days the replaced memory is given as well, where it answers the search.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
import numpy.typing as npt

from apps.core.db.prepared import read_prepared
from apps.core.domain.scope import Access
from apps.llm.selectors import EmbeddingSpace
from apps.llm.services import current_scale
from apps.retrieval.domain.query import Hit, SearchQuery
from apps.retrieval.domain.text.asked import AskedTerms
from apps.retrieval.domain.text.terms import query_terms
from apps.rules.domain.engine.arbitration import HIDE_AFTER_DAYS
from apps.semantic.domain.disagreement import is_contradiction
from apps.semantic.domain.memory import TAGS
from apps.semantic.models import BY_RULES, ConflictOutcome, Memory, MemoryEmbedding, MemoryStatus, ReviewState
from apps.semantic.models.filters import passes
from apps.semantic.search.fetch import array_text

# What replaced many answers for the newest of them.
MAX_OF_ONE = 3
# Without a word of the search a memory counts from here on, on the scale of thresholds
# (`retrieval.domain.vectors.scale`). Unrelated sentences reach 0.33.
MIN_SIMILARITY = 0.35
_RULES = [origin.value for origin in BY_RULES]
_REPLACING = [ConflictOutcome.SUPERSEDED_EXISTING.value, ConflictOutcome.KEPT_EXISTING.value]
# Every search reads it, and mostly finds nothing: the ORM would take longer for the words than the database for them.
_RECEIPTS = """
SELECT result.uuid, receipt.uuid, receipt.at, receipt.reason, receipt.rule, receipt.signals, receipt.transitions
FROM semantic_conflict AS receipt JOIN semantic_memory AS result ON result.id = receipt.result_id
WHERE receipt.result_id = ANY(%(ids)s::bigint[]) AND receipt.state = %(state)s
  AND receipt.origin = ANY(%(origins)s::text[]) AND receipt.outcome = ANY(%(outcomes)s::text[])
ORDER BY receipt.id
"""


def speaks_of(has_word: bool, similarity: float | None) -> bool:
    """Return whether a memory has a word of the query or a near meaning.

    similarity: by the configured embedder; None where it is not known.
    """
    return has_word or current_scale().questions.place(similarity or 0.0) >= MIN_SIMILARITY


@dataclass(frozen=True)
class Replacement:
    """By which memory one was replaced, when, why, and the receipt that undoes it."""

    by: UUID
    at: datetime
    why: str
    receipt: UUID


def read_replacements(ids: Sequence[int], now: datetime) -> dict[UUID, Replacement]:
    """Return what replaced each memory by the rules alone, in favour of some of `ids`, and is not hidden yet."""
    found: dict[UUID, Replacement] = {}
    parameters = {"ids": array_text(ids), "state": ReviewState.OPEN.value, "origins": _RULES, "outcomes": _REPLACING}
    for by, receipt, at, why, rule, signals, steps in read_prepared(_RECEIPTS, parameters):
        days = rule.get("arbitration", {}).get("hide_after_days", HIDE_AFTER_DAYS)
        if now - at >= timedelta(days=days) or not is_contradiction(signals):
            continue
        for step in steps:
            if step["after"]["status"] == MemoryStatus.SUPERSEDED:
                found[UUID(step["memory"])] = Replacement(by, at, why, receipt)
    return found


def replaced_hits(
    access: Access,
    query: SearchQuery,
    memories: Sequence[Memory],
    vector: npt.NDArray[np.float32] | None,
    terms: AskedTerms,
    space: EmbeddingSpace,
    now: datetime,
) -> dict[int, list[tuple[Memory, Hit, Replacement]]]:
    """Return, by the primary key of what replaced them, the replaced memories that answer a search, the newest first.

    They pass the filters of the search as the others do.
    """
    replacements = read_replacements([memory.pk for memory in memories], now)
    if not replacements:
        return {}
    kept = {memory.pk: memory for memory in memories}
    rows = Memory.objects.visible_to(access, query.scope, query.include).filter(
        uuid__in=list(replacements), superseded_by__in=list(kept), status=MemoryStatus.SUPERSEDED
    )
    chosen = [one for one in rows.order_by("-pk") if is_asked_for(query, one, kept[one.superseded_by_id or 0], now)]
    vectors = {}
    if vector is not None and chosen:
        pairs = MemoryEmbedding.objects.filter(memory__in=chosen, space_id=space.pk)
        vectors = dict(pairs.values_list("memory_id", "vector"))
    found: dict[int, list[tuple[Memory, Hit, Replacement]]] = defaultdict(list)
    for memory in chosen:
        cosine = float(np.dot(vectors[memory.pk], vector)) if vector is not None and memory.pk in vectors else None
        shares = bool(terms.words.keys() & set(query_terms(memory.content)))
        if speaks_of(shares, cosine) and len(found[memory.superseded_by_id or 0]) < MAX_OF_ONE:
            hit = Hit(memory.pk, 0.0, cosine, None, 1.0, memory.confidence_at(now))
            found[memory.superseded_by_id or 0].append((memory, hit, replacements[memory.uuid]))
    return found


def is_asked_for(query: SearchQuery, memory: Memory, successor: Memory, now: datetime) -> bool:
    """Return whether a replaced memory passes the filters of a search as what replaced it does."""
    if memory.expires_at is not None and memory.expires_at <= now:
        return False
    if query.where is not None and not passes(memory, query.where, now):
        return False
    if query.tags and any(
        getattr(memory, name, "") != getattr(successor, name, "") for name in (*TAGS, "session_id", "source")
    ):
        return False
    happened = memory.occurred_at or memory.created_at
    return (query.start is None or happened >= query.start) and (query.end is None or happened <= query.end)
