"""Rank the events of a window by a text, as memories are ranked, over an index made for the one query.

Every event is ranked alone: events have no sessions, so none has neighbours whose words count.
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

# A text is compared with the newest events: at most so many, and so many bytes of content in UTF-8, including the event
# that crosses them. Extracting words from content costs by its size.
TEXT_LIMIT = 20_000
TEXT_BYTES = 4_000_000
MAX_COMPARED = 256
# The tag of a row that is ranked: it has a vector, or a word of the text.
CANDIDATE = "candidate"
COLUMNS = (*SESSION_KEY, CANDIDATE)
Vector = npt.NDArray[np.float32]


class EventIndex:
    """An index of events, the newest first. Row numbers rise with time, so that of equal scores the newer one wins."""

    def __init__(self, events: Sequence[EventRecord], dimension: int) -> None:
        self.events = events
        self._store = RowStore(dimension, COLUMNS)
        self._rows = [row_of(event, number) for number, event in zip(range(len(events), 0, -1), events, strict=True)]
        self._store.apply(self._rows)

    def to_compare(self, search: SearchQuery) -> list[int]:
        """Return the positions of the events to compare by meaning: all, or the best by words, then the newest."""
        if len(self.events) <= MAX_COMPARED:
            return list(range(len(self.events)))
        scores = self._keyword_scores(search)
        # Stable: of equal scores the newest come first, and those without a word in common last.
        return [int(position) for position in np.argsort(-scores, kind="stable")[:MAX_COMPARED]]

    def rank_by_words(self, search: SearchQuery, now: datetime) -> Ranking:
        """Rank the events that have a word of the text. search: of the mode `keyword`."""
        return rank(search, Scope(), None, terms_of(search), [self._store], now, {})

    def rank_by_meaning(
        self, search: SearchQuery, vector: Vector, vectors: Mapping[int, Vector], now: datetime
    ) -> Ranking:
        """Rank the events that have a vector or, in hybrid mode, a word of the text.

        vectors: unit vectors by position. The other events are filtered as CANDIDATE, but count in the statistics of
        words.
        """
        candidates = set(vectors)
        if search.effective_mode is SearchMode.HYBRID:
            candidates |= {int(position) for position in np.flatnonzero(self._keyword_scores(search))}
        rows = []
        for position in sorted(candidates):
            row, encoded = self._rows[position], b"" if position not in vectors else vectors[position].tobytes()
            rows.append(row._replace(coded=(*row.coded[:-1], "yes"), vector=encoded))
        self._store.apply(rows)
        search = replace(search, tags={CANDIDATE: "yes"})
        ranking = rank(search, Scope(), vector, terms_of(search), [self._store], now, {})
        hits = (hit if len(self.events) - hit.id in vectors else hit._replace(similarity=None) for hit in ranking.hits)
        return replace(ranking, hits=tuple(hits))

    def event(self, number: int) -> EventRecord:
        """Return the event of a hit."""
        return self.events[len(self.events) - number]

    def _keyword_scores(self, search: SearchQuery) -> npt.NDArray[np.float64]:
        """Return BM25 by position."""
        terms = terms_of(replace(search, mode=SearchMode.KEYWORD))
        scores = keyword_scores(terms, [self._store], [self._store.alive], zone=search.zone).scores[0]
        by_number = np.zeros(len(self.events) + 1)
        by_number[self._store.ids[self._store.alive]] = scores[self._store.alive]
        return by_number[:0:-1]


def row_of(event: EventRecord, number: int) -> IndexRow:
    """Return the row of an event, which is not a candidate yet."""
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
