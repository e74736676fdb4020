"""Compare the events of a window with a text (docs/guides/timeline-queries.md has the rule)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from apps.core.domain.errors import UnavailableError
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.text_ranking import CANDIDATE, EventIndex
from apps.episodic.domain.window import EventQuery, TextDiagnostics
from apps.episodic.queries.vector_cache import VECTOR_CACHE
from apps.llm.domain.embedder import EmbeddingError
from apps.llm.services import get_embedder
from apps.retrieval.domain.query import EMPTY_RANKING, Hit, Ranking, SearchMode, SearchQuery

INDEX_NAME = "exact"
NO_MODEL = "embedding_unavailable"


@dataclass(frozen=True)
class RankedEvents:
    """Matching events with their hits, the best first. dropped: how many others did not match, by reason."""

    events: tuple[EventRecord, ...]
    hits: tuple[Hit, ...]
    dropped: dict[str, int]
    diagnostics: TextDiagnostics


def rank_events(events: Sequence[EventRecord], query: EventQuery, now: datetime) -> RankedEvents:
    """Rank events by the text of a query. events: the newest first.

    Without an embedding model compare by words alone and say so; in the mode `vector` raise UnavailableError.
    """
    search = SearchQuery(query=query.text, mode=query.mode, top_k=query.top_k, explain=query.explain, zone=query.zone)
    fallback, compared = None, 0
    index, ranking = None, EMPTY_RANKING
    if events and search.effective_mode is not SearchMode.KEYWORD:
        try:
            index, ranking, compared = rank_by_meaning(events, search, now)
        except EmbeddingError as error:
            if search.effective_mode is SearchMode.VECTOR:
                raise UnavailableError("The embedding model does not answer.", code=NO_MODEL) from error
            search, fallback = replace(search, mode=SearchMode.KEYWORD), NO_MODEL
    if events and search.effective_mode is SearchMode.KEYWORD:
        index = EventIndex(events, 1)
        ranking = index.rank_by_words(search, now)
    return RankedEvents(
        events=tuple(index.event(hit.id) for hit in ranking.hits) if index else (),
        hits=ranking.hits,
        dropped={
            "not_compared": ranking.filtered.get(CANDIDATE, 0),
            "no_match": ranking.filtered.get("no_common_word", 0),
            "beyond_top_k": ranking.matched - len(ranking.hits),
        },
        diagnostics=TextDiagnostics(search.effective_mode, INDEX_NAME, compared, fallback),
    )


def rank_by_meaning(
    events: Sequence[EventRecord], search: SearchQuery, now: datetime
) -> tuple[EventIndex, Ranking, int]:
    """Rank events by meaning, and by words too in hybrid mode. Return how many were compared by meaning as well.

    Raises EmbeddingError.
    """
    assert search.query is not None
    index = EventIndex(events, get_embedder().space.dimension)
    compared = index.to_compare(search)
    texts = [search.query, *(events[position].content for position in compared)]
    vector, *vectors = VECTOR_CACHE.get().vectors(texts)
    ranking = index.rank_by_meaning(search, vector, dict(zip(compared, vectors, strict=True)), now)
    return index, ranking, len(compared)
