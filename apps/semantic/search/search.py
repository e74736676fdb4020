"""Search: from a caller's question to memories with an account of how they were found."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import Access, Scope
from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain.query import EMPTY_RANKING, Diagnostics, Hit, Ranking, SearchMode, SearchQuery
from apps.retrieval.domain.ranking import rank, terms_of
from apps.retrieval.domain.rows import RowStore
from apps.semantic.conf import half_lives
from apps.semantic.index.cache import index_cache
from apps.semantic.models import Memory
from apps.semantic.search.costs import read_search_costs
from apps.semantic.search.fetch import fetch_active_memories, fetch_unchanged_memories
from apps.semantic.selectors import users_in
from apps.semantic.store.embedding_space import current_space, embed, given_vector, with_current_space

# What is said of the index to a caller who must not know of the other memories in it.
UNTOLD = "not told"
_TRIES = 3


class Found(NamedTuple):
    """A memory and how well it answers."""

    memory: Memory
    hit: Hit


@dataclass(frozen=True)
class SearchResult:
    """What a search found, best first, and how."""

    found: tuple[Found, ...]
    diagnostics: Diagnostics


_Answer = tuple[Ranking, tuple[Found, ...]]
_Ranked = Callable[[Sequence[RowStore]], Ranking]


def memory_search(access: Access, query: SearchQuery, clock: Clock = SYSTEM_CLOCK) -> SearchResult:
    """Find the caller's active memories that answer a query best (spec 000, spec 004, DESIGN D10).

    Raises InvalidInputError for a query that cannot be answered, UnavailableError without an embedding model.
    """
    started = time.perf_counter()
    _check(query)
    scope = access.for_read(query.scope)
    ranking, found = _outside(query) if scope is None else _inside(access, scope, query, clock)
    took_ms = (time.perf_counter() - started) * 1000
    index = ranking.index if _sees_whole_users(access) else UNTOLD
    diagnostics = Diagnostics(ranking.matched, ranking.filtered, index, query.effective_mode, took_ms)
    return SearchResult(found, diagnostics)


def _sees_whole_users(access: Access) -> bool:
    """Whether the caller may know how much a user has: the way of searching follows from it."""
    return access.bound.household_id is None and access.bound.persona_id is None


def _check(query: SearchQuery) -> None:
    if query.query is None and query.embedding is None:
        raise InvalidInputError("Give a query, an embedding, or both.", attr="query", code="required")
    if query.query is None and query.effective_mode is not SearchMode.VECTOR:
        raise InvalidInputError(f"The mode {query.mode} needs a query.", attr="query", code="required")
    if query.start is not None and query.end is not None and query.start > query.end:
        raise InvalidInputError("`from` lies after `to`.", attr="time_window.from")


def _outside(query: SearchQuery) -> _Answer:
    """Nothing, after the same checks: input that is refused inside the bound is refused outside it."""
    if query.embedding is not None:
        given_vector(query.embedding, current_space())
    return EMPTY_RANKING, ()


def _inside(access: Access, scope: Scope, query: SearchQuery, clock: Clock) -> _Answer:
    users = [scope.user_id] if scope.user_id is not None else users_in(access, query.scope)
    terms = terms_of(query)

    def work(space: EmbeddingSpace) -> _Answer:
        vector, costs = _query_vector(query, space), read_search_costs(space.dimension)

        def ranked(shards: Sequence[RowStore]) -> Ranking:
            return rank(query, scope, vector, terms, shards, utcnow(clock), half_lives(), costs)

        return _found_at_hand(access, users, space, ranked) or _found_afresh(access, users, space, ranked)

    return with_current_space(work)


def _found_at_hand(access: Access, users: Sequence[str], space: EmbeddingSpace, ranked: _Ranked) -> _Answer | None:
    """What the shards say as they are, if nothing has changed when the memories are read: mostly so, in one statement.

    None where something has changed, or where nothing was found.
    """
    with index_cache().as_cached(users, space) as seen:
        if seen is None:
            return None
        ranking = ranked(seen.shards)
    if not ranking.hits:
        return None
    memories = fetch_unchanged_memories(access, _ids(ranking), seen.versions, space)
    return None if memories is None else (ranking, _found(ranking, memories))


def _found_afresh(access: Access, users: Sequence[str], space: EmbeddingSpace, ranked: _Ranked) -> _Answer:
    """What the shards say when they have been brought up to date."""
    for _ in range(_TRIES):
        with index_cache().refreshed(users, space) as shards:
            ranking = ranked(shards)
        found = _found(ranking, fetch_active_memories(access, _ids(ranking))) if ranking.hits else ()
        if len(found) == len(ranking.hits):  # else some were deleted meanwhile, and left their places to others
            break
    return ranking, found


def _query_vector(query: SearchQuery, space: EmbeddingSpace) -> npt.NDArray[np.float32] | None:
    if query.embedding is not None:
        return given_vector(query.embedding, space)
    if query.effective_mode is SearchMode.KEYWORD and query.min_similarity is None:
        return None
    assert query.query is not None
    return embed([query.query])[0]


def _ids(ranking: Ranking) -> list[int]:
    return [hit.id for hit in ranking.hits]


def _found(ranking: Ranking, memories: Mapping[int, Memory]) -> tuple[Found, ...]:
    return tuple(Found(memories[hit.id], hit) for hit in ranking.hits if hit.id in memories)
