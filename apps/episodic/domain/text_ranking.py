"""Events of a window by how well they answer a text: the ranking of memories over a shard made for the occasion.

Every event is judged alone: events have no sessions, so none has neighbours whose words count.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
import numpy.typing as npt

from apps.core.domain.scope import Scope
from apps.episodic.domain.event import EventRecord
from apps.retrieval.domain.bm25 import keyword_scores
from apps.retrieval.domain.lexemes import document_lexemes
from apps.retrieval.domain.query import Ranking, SearchMode, SearchQuery
from apps.retrieval.domain.ranking import rank, terms_of
from apps.retrieval.domain.rows import IndexRow, RowStore
from apps.retrieval.domain.sessions import SESSION_KEY
from apps.retrieval.domain.substance import question_share

# What a text is compared with, the newest first: so many events, and so many bytes of content in UTF-8, the event that
# crosses them included. Taking words out of content costs by its size.
TEXT_LIMIT = 20_000
TEXT_BYTES = 4_000_000
MAX_COMPARED = 256
# Of a row that is in the running: it has a vector, or a word of the text.
CANDIDATE = "candidate"
_COLUMNS = (*SESSION_KEY, CANDIDATE)
Vector = npt.NDArray[np.float32]


class EventIndex:
    """Events, the newest first, in a shard. Which ones are in the running, and by what vectors, is said later."""

    def __init__(self, events: Sequence[EventRecord], dimension: int) -> None:
        self.events = events
        self._shard = RowStore(dimension, _COLUMNS)
        self._rows = [_row(event, number) for number, event in zip(range(len(events), 0, -1), events, strict=True)]
        self._shard.apply(self._rows)

    def to_compare(self, search: SearchQuery) -> list[int]:
        """Positions of the events whose meaning is to be compared: all, or the best by words, then the newest."""
        if len(self.events) <= MAX_COMPARED:
            return list(range(len(self.events)))
        scores = self._keyword_scores(search)
        # Stable, so events that score alike come the newest first, those without a word in common at the end.
        return [int(position) for position in np.argsort(-scores, kind="stable")[:MAX_COMPARED]]

    def by_words(self, search: SearchQuery, now: datetime) -> Ranking:
        """The events that have a word of the text. search: of the mode `keyword`."""
        return rank(search, Scope(), None, terms_of(search), [self._shard], now, {})

    def by_meaning(self, search: SearchQuery, vector: Vector, vectors: Mapping[int, Vector], now: datetime) -> Ranking:
        """The events that have a vector or, in hybrid mode, a word of the text.

        vectors: unit vectors by position. The others are filtered as CANDIDATE; they count in the statistics of
        words all the same.
        """
        in_running = set(vectors)
        if search.effective_mode is SearchMode.HYBRID:
            in_running |= {int(position) for position in np.flatnonzero(self._keyword_scores(search))}
        self._shard.apply([self._runner(position, vectors.get(position)) for position in sorted(in_running)])
        search = replace(search, tags={CANDIDATE: "yes"})
        ranking = rank(search, Scope(), vector, terms_of(search), [self._shard], now, {})
        hits = (hit if len(self.events) - hit.id in vectors else hit._replace(similarity=None) for hit in ranking.hits)
        return replace(ranking, hits=tuple(hits))

    def event(self, number: int) -> EventRecord:
        """The event that a hit names."""
        return self.events[len(self.events) - number]

    def _runner(self, position: int, vector: Vector | None) -> IndexRow:
        row = self._rows[position]
        return row._replace(coded=(*row.coded[:-1], "yes"), vector=b"" if vector is None else vector.tobytes())

    def _keyword_scores(self, search: SearchQuery) -> npt.NDArray[np.float64]:
        """BM25 by position."""
        terms = terms_of(replace(search, mode=SearchMode.KEYWORD))
        scores = keyword_scores(terms, [self._shard], [self._shard.alive]).scores[0]
        by_number = np.zeros(len(self.events) + 1)
        by_number[self._shard.ids[self._shard.alive]] = scores[self._shard.alive]
        return by_number[:0:-1]


def _row(event: EventRecord, number: int) -> IndexRow:
    """An event as a row. number: higher for newer events, so that among equals the newer one is the better."""
    happened = event.timestamp.timestamp()
    return IndexRow(
        id=number,
        active=True,
        coded=("", "", "", ""),
        happened=happened,
        anchor=happened,
        base_confidence=1.0,
        question_share=question_share(event.content),
        fullness=1.0,  # it counts only beside neighbours
        lexemes=document_lexemes(event.content, occurred_at=event.timestamp),
        vector=b"",
    )
