"""Compare the events of a window with a text (docs/guides/timeline-queries.md has the rule)."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
import numpy.typing as npt

from apps.core.domain.caches import CacheState, list_cache
from apps.core.domain.errors import UnavailableError
from apps.core.per_process import PerProcess
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.text_ranking import CANDIDATE, EventIndex
from apps.episodic.domain.window import EventQuery, TextDiagnostics
from apps.episodic.metrics import EMBEDDED
from apps.llm.domain.embedder import EmbeddingError, TextRole
from apps.llm.services import can_read, embed_texts, get_embedder
from apps.retrieval.domain.query import EMPTY_RANKING, Hit, Ranking, SearchMode, SearchQuery
from apps.retrieval.domain.ranking import times_of

Vector = npt.NDArray[np.float32]
CACHE_BYTES = 32 * 1024 * 1024
ENTRY_BYTES = 250  # key, array object and place in the dictionary
INDEX_NAME = "exact"
NO_MODEL = "embedding_unavailable"


class VectorCache:
    """The vectors used last, as many as fit into a size in bytes, by the hash of their text."""

    def __init__(self, max_bytes: int = CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()
        self._nbytes = 0
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Return the size of what is cached."""
        return self._nbytes

    def __len__(self) -> int:
        """Return how many vectors there are."""
        return len(self._vectors)

    def vectors(self, texts: Sequence[str], role: TextRole = TextRole.PASSAGE) -> list[Vector]:
        """Return the unit vectors of texts by the configured model, in their order. Raises EmbeddingError."""
        space = f"{get_embedder().space}\0{role}\0".encode()
        keys = [hashlib.blake2b(space + text.encode(), digest_size=16).digest() for text in texts]
        found: dict[bytes, Vector] = {}
        with self._lock:
            for key in keys:
                if key in self._vectors:
                    self._vectors.move_to_end(key)
                    found[key] = self._vectors[key]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            EMBEDDED.inc(len(missing))
            made = dict(zip(missing, embed_texts(list(missing.values()), role), strict=True))
            found |= made
            self._add(made)
        return [found[key] for key in keys]

    def _add(self, made: dict[bytes, Vector]) -> None:
        """Add vectors, and drop those that were not used for longest."""
        with self._lock:
            for key, vector in made.items():
                if key not in self._vectors:
                    # A copy: a row of a matrix would keep the whole matrix.
                    self._vectors[key] = vector.copy()
                    self._nbytes += vector.nbytes + ENTRY_BYTES
            while self._nbytes > self._max_bytes and self._vectors:
                _, dropped = self._vectors.popitem(last=False)
                self._nbytes -= dropped.nbytes + ENTRY_BYTES


def cache_state() -> CacheState:
    """Return how full the cache of this process is."""
    cache = VECTOR_CACHE.get()
    return CacheState("vectors of events", len(cache), cache.nbytes, CACHE_BYTES)


VECTOR_CACHE = PerProcess(VectorCache)
list_cache(cache_state)


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
    search = SearchQuery(
        query=query.text, mode=query.mode, top_k=query.top_k, explain=query.explain, zone=query.zone,
        asked_at=query.asked_at,
    )  # fmt: skip
    search = replace(search, times=times_of(search, now))
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
    [vector] = VECTOR_CACHE.get().vectors([search.query], TextRole.QUERY)
    vectors = VECTOR_CACHE.get().vectors([events[position].content for position in compared])
    search = replace(search, is_read=can_read(search.query))
    ranking = index.rank_by_meaning(search, vector, dict(zip(compared, vectors, strict=True)), now)
    return index, ranking, len(compared)
