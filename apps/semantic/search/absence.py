"""What a search did not find although it speaks of the question, and why."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

import numpy as np

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.scope import Access, Reach
from apps.retrieval.domain.query import Hit, SearchQuery
from apps.retrieval.domain.ranking import row_filters
from apps.retrieval.domain.rows import RowStore
from apps.semantic.models import Memory, MemoryRevision, MemoryStatus
from apps.semantic.querysets import MemoryQuerySet
from apps.semantic.search.every_status import memories_rank, relevant_hits, speaks_of_it
from apps.semantic.search.search import find_global, read_allowed, searched_scopes
from apps.semantic.selectors import last_removals

# With more memories than these in all, only those of the users whom the search covers are considered, and of no more
# users than these.
MAX_CONSIDERED = 50_000
MAX_USERS = 200
# So many of those that the search has ranked, but too low, and of all.
MAX_BELOW = 3
MAX_MISSING = 12
_RANKED = 200


class Absence(StrEnum):
    """Why a memory was not found: it is outside the bound or the scope, its status, a filter, or its rank."""

    BOUND = "bound"
    SCOPE = "scope"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    REJECTED = "rejected"
    DELETED = "deleted"
    EXPIRED = "expired"
    FILTERED = "filtered"
    RANK = "rank"


@dataclass(frozen=True)
class Missing:
    """A memory that was not found. filter: which one it failed. removal: the last change of its status."""

    memory: Memory
    hit: Hit
    absence: Absence
    filter: str = ""
    removal: MemoryRevision | None = None


@dataclass(frozen=True)
class MissingMemories:
    """The best of what was not found. is_complete: whether all memories that the viewer sees were considered."""

    found: tuple[Missing, ...]
    is_complete: bool


def memories_missing(
    access: Access, query: SearchQuery, found: Collection[int], viewer: Access, clock: Clock = SYSTEM_CLOCK
) -> MissingMemories:
    """Return the best memories that a search of `access` did not return, by the same ranking over all statuses.

    found: the primary keys of what it returned. viewer: who is shown them; none outside its bound is. Raises
    InvalidInputError, UnavailableError.
    """
    query, now = find_global(query), utcnow(clock)
    reach = access.reach(query.scope, query.include)
    rows, is_complete = considered(access, reach, query, viewer)
    ranking, stores = memories_rank(rows, replace(query, top_k=_RANKED), clock)
    # From here on a memory would have been among the best: the score of the last one of a full answer.
    scores = [hit.score for hit in ranking.hits if hit.id in found]
    least = min(scores) if len(scores) >= query.top_k else 0.0
    relevant = {hit.id for hit in relevant_hits(ranking.hits)}
    hits = [hit for hit in ranking.hits if hit.id not in found and (hit.id in relevant or speaks_of_it(hit))]
    memories = {one.pk: one for one in rows.filter(pk__in=[hit.id for hit in hits]).select_related("superseded_by")}
    failed = failed_filters(access, query, stores, now)
    removals = last_removals(viewer, [pk for pk, memory in memories.items() if memory.status != MemoryStatus.ACTIVE])
    missing: list[Missing] = []
    below = 0
    for hit in hits:
        memory = memories.get(hit.id)
        if memory is None:
            continue  # purged since
        absence, name = absence_of(memory, hit, access, reach, query, failed, now)
        if absence is Absence.RANK:
            below += 1
            if below > MAX_BELOW or hit.id not in relevant or len(found) < query.top_k:
                continue
        if absence is Absence.RANK or hit.score >= least:
            missing.append(Missing(memory, hit, absence, name, removals.get(memory.pk)))
    return MissingMemories(tuple(missing[:MAX_MISSING]), is_complete)


def considered(access: Access, reach: Reach, query: SearchQuery, viewer: Access) -> tuple[MemoryQuerySet, bool]:
    """Return the memories that may be missed: all that the viewer sees, unless they are too many; and whether all."""
    rows = Memory.objects.all().visible_to(viewer)
    if rows.order_by()[: MAX_CONSIDERED + 1].count() <= MAX_CONSIDERED:
        return rows, True
    users = [] if reach.is_empty else list(searched_scopes(access, reach, query.scope))
    return rows.filter(user_id__in=users[:MAX_USERS]), False


def failed_filters(
    access: Access, query: SearchQuery, stores: Sequence[RowStore], now: datetime
) -> Mapping[str, frozenset[int]]:
    """Return by the name of each filter of a query the ids of the rows that fail it, in the order of the filters."""
    if not stores:
        return {}
    if query.where is not None:
        query = replace(query, allowed=read_allowed(access, query, query.where, now))
    ids = np.concatenate([store.ids for store in stores])
    return {name: frozenset(ids[~passes].tolist()) for name, passes in row_filters(query, stores)}


def absence_of(
    memory: Memory,
    hit: Hit,
    access: Access,
    reach: Reach,
    query: SearchQuery,
    failed: Mapping[str, frozenset[int]],
    now: datetime,
) -> tuple[Absence, str]:
    """Return why a memory was not found, and the filter that it failed, if it was one."""
    if memory.user_id not in reach.owners and not (reach.scope and reach.scope.contains(memory.scope)):
        is_readable = access.bound.contains(memory.scope) or memory.user_id in access.reads
        return (Absence.SCOPE if is_readable else Absence.BOUND), ""
    if memory.status != MemoryStatus.ACTIVE:
        return Absence(memory.status), ""
    if memory.has_expired(now):
        return Absence.EXPIRED, ""
    for name, ids in failed.items():
        if memory.pk in ids:
            return Absence.FILTERED, name
    if query.min_confidence is not None and hit.confidence < query.min_confidence:
        return Absence.FILTERED, "min_confidence"
    if query.min_similarity is not None and hit.similarity is not None and hit.similarity < query.min_similarity:
        return Absence.FILTERED, "min_similarity"
    if query.min_relevance is not None and hit.relevance is not None and hit.relevance < query.min_relevance:
        return Absence.FILTERED, "min_relevance"
    return Absence.RANK, ""
