"""Search: from a caller's query to memories, with an account of how they were found."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import numpy as np
import numpy.typing as npt
from django.conf import settings

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import InvalidInputError
from apps.core.domain.filters.expression import Expression
from apps.core.domain.scope import Access, Reach, Scope
from apps.given.domain.given import AnswerKind, Item, ItemKind, Place
from apps.given.services import given_note
from apps.llm.domain.embedder import TextRole
from apps.llm.domain.rerank import NO_ORDER
from apps.llm.selectors import EmbeddingSpace
from apps.llm.services import Reranked, can_read
from apps.retrieval.domain.matters import is_statement, put_newer_first
from apps.retrieval.domain.query import EMPTY_RANKING, MAX_TOP_K, Hit, Kinship, Pair, Ranking, SearchMode, SearchQuery
from apps.retrieval.domain.ranking import rank_by_score, terms_of, times_of
from apps.retrieval.domain.relevance import Background
from apps.retrieval.domain.rows import RowStore
from apps.rules.domain.statements.read import statements_of
from apps.rules.domain.statements.statement import Mood
from apps.semantic.domain.memory import TAGS_OF_PLACES
from apps.semantic.domain.standing import Standing, put_in_force_first, share_of_score
from apps.semantic.index.cache import index_cache
from apps.semantic.models import Memory, half_lives
from apps.semantic.models.filters import memory_condition, passes
from apps.semantic.search.costs import read_search_costs
from apps.semantic.search.fetch import (
    OpenConflict,
    fetch_active_memories,
    fetch_unchanged_memories,
    first_conflicts,
    read_open_conflicts,
)
from apps.semantic.search.in_force import read_successors
from apps.semantic.search.replaced import Replacement, replaced_hits
from apps.semantic.search.rerank import SearchReranking, search_reranking
from apps.semantic.selectors import users_in
from apps.semantic.store.background import space_background
from apps.semantic.store.embedding_space import SpaceChangedError, current_space, embed, forget_space, given_vector

_TRIES = 3
# By how much a search looks further where what it found is not in force.
_FURTHER = 3
# So many users are searched whatever they have. Beyond, one search would drop the indexes of all others, and those that
# it has read itself before it ends.
FEW_USERS = 20
TOO_MANY_USERS = (
    "This search covers the memories of {:,} users, which do not fit in the index together. Name a user, a household "
    "or a persona; or let the operator raise MEMORYHUB_INDEX_CACHE_MB."
)
Ranked = tuple[Ranking, Mapping[int, Memory]]
Search = Callable[[SearchQuery], Ranked]
RankRows = Callable[[Sequence[RowStore]], Ranking]
# A text of these only says nothing that could hold instead of something else.
_UNASSERTED = frozenset((Mood.QUESTION, Mood.WISH, Mood.PLAN, Mood.CONDITION, Mood.REPORT))


class Found(NamedTuple):
    """A memory and how well it answers.

    conflict: an open one that concerns it. before: the id of the older memory that it was put before. replaced: of one
    that the rules replaced by themselves, by what, when and why; it stands directly after that. succeeds: the id of a
    found memory that is not in force any more, of which it took the place. succeeded_by: of such a one, what did.
    """

    memory: Memory
    hit: Hit
    conflict: OpenConflict | None = None
    before: UUID | None = None
    replaced: Replacement | None = None
    succeeds: UUID | None = None
    succeeded_by: tuple[UUID, ...] = ()


@dataclass(frozen=True)
class SearchResult:
    """The memories found, best first. index: how vectors were searched, None where hidden. took_ms: wall time.

    reranked: what the reranker said of the first hits, None where none was asked.
    """

    found: tuple[Found, ...]
    ranking: Ranking
    index: str | None
    mode: SearchMode
    took_ms: float
    reranked: Reranked | None = None

    @property
    def problem(self) -> str:
        """Return the sentence, in English, that the reranker was asked and gave no order; else nothing."""
        return NO_ORDER if self.reranked is not None and self.reranked.problem else ""


Answer = tuple[Ranking, tuple[Found, ...]]


def memory_search(
    access: Access, query: SearchQuery, clock: Clock = SYSTEM_CLOCK, *, is_answer: bool = True
) -> SearchResult:
    """Find the caller's active memories that answer a query best (spec 000, spec 004, DESIGN D10).

    is_answer: the caller gets all that is found, which is noted; otherwise who chooses among it notes it.

    Raises:
        InvalidInputError: the query cannot be answered.
        UnavailableError: there is no embedding model, or it does not answer.
    """
    started = time.perf_counter()
    if query.query is None and query.embedding is None:
        raise InvalidInputError("Give a query, an embedding, or both.", attr="query", code="required")
    if query.query is None and query.effective_mode is not SearchMode.VECTOR:
        raise InvalidInputError(f"The mode {query.mode} needs a query.", attr="query", code="required")
    if query.start is not None and query.end is not None and query.start > query.end:
        raise InvalidInputError("`from` is after `to`.", attr="time_window.from")
    if query.current_first is None:
        # Who asks for another mode asks for its order.
        is_default = query.effective_mode is SearchMode.HYBRID and settings.MEMORYHUB.current_first
        query = replace(query, current_first=is_default)
    query = find_global(query)
    reach = access.reach(query.scope, query.include)
    answer: Answer = EMPTY_RANKING, ()
    reranking = None
    if not reach.is_empty:
        reranking = search_reranking(access, query)
        try:
            answer = _search_reach(access, reach, query, current_space(), clock, reranking)
        except SpaceChangedError:
            forget_space()
            answer = _search_reach(access, reach, query, current_space(), clock, reranking)
    elif query.embedding is not None:  # input that is refused inside the bound is refused outside it
        given_vector(query.embedding, current_space())
    ranking, found = answer
    # The way of searching follows from how much a user has, which a caller who sees only a part must not learn.
    sees_whole_users = access.bound.household_id is None and access.bound.persona_id is None
    if is_answer:
        given_note(access, AnswerKind.SEARCH, [given_item(one.memory) for one in found])
    took_ms = (time.perf_counter() - started) * 1000
    index, reranked = ranking.index if sees_whole_users else None, reranking.answer if reranking else None
    return SearchResult(found, ranking, index, query.effective_mode, took_ms, reranked)


def given_item(memory: Memory) -> Item:
    """Return a memory as what an answer gave."""
    return Item(Place(memory.user_id, memory.household_id, memory.persona_id), ItemKind.MEMORY, memory.uuid)


def find_global(query: SearchQuery) -> SearchQuery:
    """Return the query so that global memories pass its agent, personality and project (decision 0032).

    They do not where the query asks for memories that are not global.
    """
    if query.tags.get("is_global") == "false":
        return query
    return replace(query, also={name: ("is_global", "true") for name in TAGS_OF_PLACES if name in query.tags})


def searched_scopes(access: Access, reach: Reach, asked: Scope) -> dict[str, Scope]:
    """Return whose memories a search covers, and of each of them in which scope; of included owners everything."""
    own: list[str] = []
    if reach.scope is not None and reach.scope.user_id is not None and not reach.owners:
        return {reach.scope.user_id: reach.scope}
    if reach.scope is not None:
        own = [reach.scope.user_id] if reach.scope.user_id is not None else users_in(access, asked)
    scopes = dict.fromkeys(own, reach.scope or Scope()) | dict.fromkeys(reach.owners, Scope())
    return {user: scopes[user] for user in sorted(scopes)}  # in the order of the indexes


def _search_reach(
    access: Access,
    reach: Reach,
    query: SearchQuery,
    space: EmbeddingSpace,
    clock: Clock,
    reranking: SearchReranking | None,
) -> Answer:
    """Search the memories that a read covers by the vectors of a space.

    Raises SpaceChangedError, and InvalidInputError where it covers more than the index has room for.
    """
    scopes = searched_scopes(access, reach, query.scope)
    query = replace(query, is_read=reads_query(query), times=times_of(query, utcnow(clock)))
    users = list(scopes)
    if len(users) > FEW_USERS and not index_cache().has_room(users, space):
        raise InvalidInputError(TOO_MANY_USERS.format(len(users)), attr="user_id", code="too_many_users")
    terms, vector, costs = terms_of(query), query_vector(query, space), read_search_costs(space.dimension)
    background = query_background(query, vector, space)

    def search(query: SearchQuery) -> Ranked:
        def rank_rows(rows: Sequence[RowStore]) -> Ranking:
            places, now = list(scopes.values()), utcnow(clock)
            return rank_by_score(query, places, vector, terms, rows, now, half_lives(), costs, background)

        cached = _search_cached(access, query, users, space, rank_rows)
        return cached or _search_refreshed(access, query, users, space, rank_rows)

    if reranking is None:
        ranking, found = search_in_force(access, query, search, clock)
    else:
        ranking, found = search_reranked(access, query, search, clock, reranking)
    if not query.history or not any(one.conflict for one in found):
        return ranking, found
    replaced = replaced_hits(access, query, [one.memory for one in found], vector, terms, space, utcnow(clock))
    followed: list[Found] = []  # each by what it replaced
    for first in found:
        followed.append(first)
        for memory, hit, replacement in replaced.get(first.memory.pk, ()):
            scored = hit._replace(score=first.hit.score, relevance=first.hit.relevance)
            followed.append(Found(memory, scored, first.conflict, None, replacement))
    return ranking, tuple(followed[: query.top_k])


def search_reranked(
    access: Access, query: SearchQuery, search: Search, clock: Clock, reranking: SearchReranking
) -> Answer:
    """Return the best of as many hits as the reranker reads; without its answer what is found without it."""
    reranking.query = query  # with the times that it names
    wider = replace(query, top_k=max(query.top_k, reranking.count))
    ranking, found = search_in_force(access, wider, search, clock, reranking)
    if reranking.has_failed and wider.top_k > query.top_k:
        return search_in_force(access, query, search, clock)
    return ranking, found[: query.top_k]


def search_in_force(
    access: Access, query: SearchQuery, search: Search, clock: Clock, reranking: SearchReranking | None = None
) -> Answer:
    """Return what is found, what is in force first (docs/explain/retrieval.md).

    Where what was found is not in force, it looks further, so that as much is found that is.
    """
    asked = query
    while True:
        is_filtered = query.where is not None
        ranking, memories = _search_filtered(access, asked, search, clock) if is_filtered else search(asked)
        found = choose_found(access, asked, ranking, memories, reranking)
        holding = sum(one.memory.is_in_force for one in found)
        if holding == len(found):
            return ranking, found[: query.top_k]
        if holding >= query.top_k or asked.top_k >= min(ranking.matched, MAX_TOP_K):
            break
        asked = replace(asked, top_k=min(asked.top_k * _FURTHER, MAX_TOP_K))
    ordered = order_by_standing(access, query, search, found, utcnow(clock))
    if query.in_force:
        left_out, ordered = len(found) - holding, [one for one in ordered if one.memory.is_in_force]
        filtered = {**ranking.filtered, "in_force": left_out}
        ranking = replace(ranking, matched=ranking.matched - left_out, filtered=filtered)
    return ranking, tuple(ordered[: query.top_k])


def order_by_standing(
    access: Access, query: SearchQuery, search: Search, found: Sequence[Found], now: datetime
) -> list[Found]:
    """Return what was found with what took its place, what is in force first."""
    ended = [one.memory for one in found if not one.memory.is_in_force]
    successors = read_successors(access, query, ended, now)
    known = {one.memory.pk: one for one in found}
    missing = {one.pk: one for each in successors.values() for one in each if one.pk not in known}
    if missing:  # with the scores that a search gives them, 0 for those that it would not find by itself
        allowed = np.array(sorted(missing), dtype=np.int64)
        alone = replace(
            query,
            where=None,
            allowed=allowed,
            min_similarity=None,
            min_relevance=None,
            current_first=False,
            top_k=len(missing),
        )
        hits = {hit.id: hit for hit in search(alone)[0].hits}
        for pk, one in missing.items():
            known[pk] = Found(one, hits.get(pk) or Hit(pk, 0.0, None, None, 1.0, one.confidence_at(now)))
    for memory in ended:
        by = successors.get(memory.pk, [])
        known[memory.pk] = known[memory.pk]._replace(succeeded_by=tuple(one.uuid for one in by))
        for one in by:
            # What took the place of an answer is as relevant as that.
            hit, likely = known[one.pk].hit, known[memory.pk].hit.relevance
            if likely is not None and (one.pk in missing or likely > (hit.relevance or 0.0)):
                hit = hit._replace(relevance=likely)
            known[one.pk] = known[one.pk]._replace(hit=hit, succeeds=known[one.pk].succeeds or memory.uuid)
    standings = [
        Standing(
            one.memory.pk,
            one.hit.score,
            share_of_score(one.memory.managed_by, one.memory.metadata),
            tuple(successor.pk for successor in successors.get(one.memory.pk, ())),
        )
        for one in found
    ]
    return [known[key] for key in put_in_force_first(standings)]


def _search_filtered(access: Access, query: SearchQuery, search: Search, clock: Clock) -> Ranked:
    """Search what passes the filter of a query. What a concurrent change took out of the filter is not found."""
    assert query.where is not None
    for _ in range(_TRIES):
        now = utcnow(clock)
        ranking, found = search(replace(query, allowed=read_allowed(access, query, query.where, now)))
        memories = {key: memory for key, memory in found.items() if passes(memory, query.where, now)}
        if len(memories) == len(found):
            break
    return ranking, memories


def read_allowed(access: Access, query: SearchQuery, where: Expression, now: datetime) -> npt.NDArray[np.int64]:
    """Return the ids of the active memories that a search covers and that pass a filter, in order."""
    active = Memory.objects.visible_to(access, query.scope, query.include).active()
    passing = active.filter(memory_condition(where, now)).order_by("pk").values_list("pk", flat=True)
    return np.fromiter(passing, dtype=np.int64)


def query_vector(query: SearchQuery, space: EmbeddingSpace) -> npt.NDArray[np.float32] | None:
    """Return the caller's vector, else that of the text; None where no vectors are compared."""
    if query.embedding is not None:
        return given_vector(query.embedding, space)
    if query.effective_mode is SearchMode.KEYWORD and query.min_similarity is None:
        return None
    assert query.query is not None
    return embed([query.query], TextRole.QUERY)[0]


def reads_query(query: SearchQuery) -> bool:
    """Return whether the vector of a query says something: the caller's does."""
    return query.embedding is not None or query.query is None or can_read(query.query)


def query_background(
    query: SearchQuery, vector: npt.NDArray[np.float32] | None, space: EmbeddingSpace
) -> Background | None:
    """Return what cosines with a query are compared with; None where they say nothing of it."""
    return None if vector is None or not query.is_read else space_background(space)


def _search_cached(
    access: Access, query: SearchQuery, users: Sequence[str], space: EmbeddingSpace, rank_rows: RankRows
) -> Ranked | None:
    """Rank the indexes as they are in memory, and read what was found if nothing has changed: mostly one statement.

    Return None where something has changed, or where nothing was found.
    """
    with index_cache().as_cached(users, space) as cached:
        if cached is None:
            return None
        rows, versions = cached
        ranking = rank_rows(rows)
    if not ranking.hits:
        return None
    found = [hit.id for hit in ranking.hits]
    memories = fetch_unchanged_memories(access, found, versions, space, query.include)
    return None if memories is None else (ranking, memories)


def _search_refreshed(
    access: Access, query: SearchQuery, users: Sequence[str], space: EmbeddingSpace, rank_rows: RankRows
) -> Ranked:
    """Rank the indexes after they were brought up to date."""
    for _ in range(_TRIES):
        with index_cache().refreshed(users, space) as rows:
            ranking = rank_rows(rows)
        found = [hit.id for hit in ranking.hits]
        memories = fetch_active_memories(access, found, query.include) if found else {}
        if len(memories) == len(found):  # else some were deleted concurrently, and left their places to others
            break
    return ranking, memories


def choose_found(
    access: Access,
    query: SearchQuery,
    ranking: Ranking,
    memories: Mapping[int, Memory],
    reranking: SearchReranking | None = None,
) -> tuple[Found, ...]:
    """Return the best of the memories that could be read, in order, with the open conflicts that concern them."""
    conflicts = read_open_conflicts(access, list(memories), query.include) if memories else []
    contents = {pk: memory.content for pk, memory in memories.items()}
    if reranking is not None:
        readable = [hit for hit in ranking.hits if hit.id in contents]
        ranking = replace(ranking, hits=tuple(reranking.apply(readable, contents)))
    in_conflict = [conflict.memories.keys() for conflict in conflicts] if query.current_first else []
    hits = order_hits(ranking, contents, in_conflict)
    of_memory = first_conflicts(conflicts)
    return tuple(
        Found(
            memories[hit.id],
            hit,
            of_memory.get(hit.id),
            memories[hit.precedence.older].uuid if hit.precedence else None,
        )
        for hit in hits[: query.top_k]
    )


def order_hits(
    ranking: Ranking, contents: Mapping[int, str], in_conflict: Sequence[Collection[int]]
) -> tuple[Hit, ...]:
    """Return those hits of a ranking that have a content, the current first.

    contents: of memories, by their primary keys. in_conflict: the keys of each two that disagree.
    """
    hits = [hit for hit in ranking.hits if hit.id in contents]
    pairs = list(ranking.pairs)
    # Those that disagree with each other, so that nothing was decided about them.
    moments = {hit.id: (hit.happened, hit.id) for hit in hits if hit.id in ranking.notes}
    for two in in_conflict:
        if all(key in moments for key in two):
            older, newer = sorted(two, key=moments.__getitem__)
            pairs.append(Pair(newer, older, Kinship.CONFLICT))
    return put_newer_first(hits, [pair for pair in pairs if pair.newer in contents and asserts(contents[pair.newer])])


def asserts(content: str) -> bool:
    """Return whether a text says what holds, and not only what is asked, wished, planned, supposed or reported."""
    statements = statements_of(content)
    return is_statement(content) and (not statements or any(one.mood not in _UNASSERTED for one in statements))
