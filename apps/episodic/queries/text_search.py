"""A text asked of the events of a window (docs/guides/timeline-queries.md says the rule)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from apps.core.domain.errors import UnavailableError
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.text_ranking import CANDIDATE, EventIndex
from apps.episodic.domain.window import EventQuery, TextDiagnostics
from apps.episodic.queries.vector_cache import vector_cache
from apps.llm.domain.embedder import EmbeddingError
from apps.llm.services import get_embedder
from apps.retrieval.domain.query import EMPTY_RANKING, Hit, Ranking, SearchMode, SearchQuery

INDEX_NAME = "exact"
NO_MODEL = "embedding_unavailable"


@dataclass(frozen=True)
class RankedEvents:
    """Events with how well they answer, the best first, and why the others do not."""

    found: tuple[tuple[EventRecord, Hit], ...]
    dropped: dict[str, int]
    account: TextDiagnostics


def rank_events(events: Sequence[EventRecord], query: EventQuery, now: datetime) -> RankedEvents:
    """Rank events by the text of a query. events: the newest first.

    Without an embedding model it goes by words alone and says so; in the mode `vector` that is an UnavailableError.
    """
    search = SearchQuery(query=query.text, mode=query.mode, top_k=query.top_k, explain=query.explain)
    if search.effective_mode is SearchMode.KEYWORD or not events:
        return _by_words(events, search, now)
    try:
        return _by_meaning(events, search, now)
    except EmbeddingError as error:
        if search.effective_mode is SearchMode.VECTOR:
            raise UnavailableError("The embedding model does not answer.", code=NO_MODEL) from error
        return _by_words(events, replace(search, mode=SearchMode.KEYWORD), now, fallback=NO_MODEL)


def _by_words(
    events: Sequence[EventRecord], search: SearchQuery, now: datetime, fallback: str | None = None
) -> RankedEvents:
    account = TextDiagnostics(search.effective_mode, INDEX_NAME, 0, fallback)
    if not events:
        return _ranked(EventIndex([], 1), EMPTY_RANKING, account)
    shard = EventIndex(events, 1)
    return _ranked(shard, shard.by_words(search, now), account)


def _by_meaning(events: Sequence[EventRecord], search: SearchQuery, now: datetime) -> RankedEvents:
    assert search.query is not None
    shard = EventIndex(events, get_embedder().space.dimension)
    compared = shard.to_compare(search)
    vector, *vectors = vector_cache().vectors([search.query, *(events[position].content for position in compared)])
    ranking = shard.by_meaning(search, vector, dict(zip(compared, vectors, strict=True)), now)
    return _ranked(shard, ranking, TextDiagnostics(search.effective_mode, INDEX_NAME, len(compared)))


def _ranked(shard: EventIndex, ranking: Ranking, account: TextDiagnostics) -> RankedEvents:
    dropped = {
        "not_compared": ranking.filtered.get(CANDIDATE, 0),
        "no_match": ranking.filtered.get("no_common_word", 0),
        "beyond_top_k": ranking.matched - len(ranking.hits),
    }
    return RankedEvents(tuple((shard.event(hit.id), hit) for hit in ranking.hits), dropped, account)
