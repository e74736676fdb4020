"""Rank memories of every status as a search ranks the active ones, for people who look for what vanished."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from django.db.models import Q
from pgvector.django import CosineDistance

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.scope import Scope
from apps.llm.selectors import EmbeddingSpace
from apps.llm.services import scale_of
from apps.retrieval.domain.query import Hit, Ranking, SearchQuery
from apps.retrieval.domain.ranking import rank_by_score, terms_of, times_of
from apps.retrieval.domain.rows import RowStore
from apps.retrieval.domain.text.asked import AskedTerms
from apps.retrieval.domain.text.scripts import spellings
from apps.semantic.index.changes import CODED, memory_rows
from apps.semantic.models import half_lives
from apps.semantic.querysets import MemoryQuerySet
from apps.semantic.search.costs import read_search_costs
from apps.semantic.search.replaced import speaks_of
from apps.semantic.search.search import query_background, query_vector, reads_query
from apps.semantic.store.embedding_space import with_current_space

# So many memories are ranked at most. Where there are more, half of them are the nearest by vector, and half the newest
# that have a word of the query.
MAX_ROWS = 2_000
MAX_WORDS = 8
Ranked = tuple[Ranking, Sequence[RowStore]]


def memories_rank(memories: MemoryQuerySet, query: SearchQuery, clock: Clock = SYSTEM_CLOCK) -> Ranked:
    """Rank memories of whatever status, and expired ones, by the words, the vector and the mode of a query.

    Its scope and its filters leave none out; the best `query.top_k` are returned, with the rows
    among which they were ranked, by user. Reads the database and not the
    indexes of the process. Raises InvalidInputError, UnavailableError.
    """
    plain = SearchQuery(
        query=query.query, embedding=query.embedding, mode=query.mode, top_k=query.top_k, explain=query.explain,
        zone=query.zone, current_first=False, is_read=reads_query(query), times=times_of(query, utcnow(clock)),
    )  # fmt: skip

    def rank_in(space: EmbeddingSpace) -> Ranked:
        terms, vector = terms_of(plain), query_vector(plain, space)
        chosen = candidate_ids(memories, terms, vector, space)
        stores = []
        for rows in memory_rows(chosen, space).values():
            store = RowStore(space.dimension, CODED, scale_of(space.space_id))
            store.apply(rows)
            stores.append(store)
        costs = read_search_costs(space.dimension)
        now, background = utcnow(clock), query_background(plain, vector, space)
        ranking = rank_by_score(plain, Scope(), vector, terms, stores, now, half_lives(), costs, background)
        return replace(ranking, hits=ranking.hits[: plain.top_k]), stores

    return with_current_space(rank_in)


def candidate_ids(
    memories: MemoryQuerySet, terms: AskedTerms, vector: npt.NDArray[np.float32] | None, space: EmbeddingSpace
) -> list[int]:
    """Return the primary keys of the memories to rank: all of them, or those that are likely to be among the best."""
    keys = memories.order_by("-pk").values_list("pk", flat=True)
    newest = list(keys[: MAX_ROWS + 1])
    if len(newest) <= MAX_ROWS:
        return newest
    found: dict[int, None] = {}
    if terms.words:
        having = Q()
        for term in list(terms.words)[:MAX_WORDS]:
            for written in spellings(term):
                having |= Q(content__icontains=written)
        found |= dict.fromkeys(keys.filter(having)[: MAX_ROWS // 2])
    if vector is not None:
        near = memories.filter(embeddings__space=space).order_by(CosineDistance("embeddings__vector", vector))
        found |= dict.fromkeys(near.values_list("pk", flat=True)[: MAX_ROWS - len(found)])
    return list(found)


def relevant_hits(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits with a word of the query or a near meaning, down to half of the best score.

    Every memory has a score; without a limit the list would contain all of them.
    """
    best = max((hit.score for hit in hits), default=0.0)
    return [hit for hit in hits if hit.score >= best / 2 and speaks_of_it(hit)]


def speaks_of_it(hit: Hit) -> bool:
    """Return whether a hit has a word of the query or a near meaning."""
    return speaks_of((hit.keyword or 0.0) > 0, hit.similarity)
