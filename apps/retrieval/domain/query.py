"""What a search asks for, and what it finds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from apps.core.domain.filters.expression import Expression
from apps.core.domain.scope import Scope
from apps.retrieval.domain.times.read import NamedTime

MAX_TOP_K = 1_000
DEFAULT_TOP_K = 10
# Of a hybrid score; the rest is that of the words.
VECTOR_WEIGHT = 0.5


class SearchMode(StrEnum):
    """By what rows are found."""

    HYBRID = "hybrid"
    VECTOR = "vector"
    KEYWORD = "keyword"


@dataclass(frozen=True, eq=False)
class SearchQuery:
    """A search. `query`, `embedding` or both; None means that the caller did not say.

    include: owners whose rows are searched besides those of the scope, as far as the caller may read them.
    tags: column of the store -> the value it must have. also: column among them -> another column and its value, with
    which a row passes the tag as well. start and end: when the row happened, both included.
    current_first: whether of two hits that speak of one matter the newer one comes first (`domain.matters`).
    history: whether what the rules replaced by themselves is given as well, after what replaced it.
    in_force: leave out what follows an item that is not in force; otherwise it comes below what is.
    where: a filter of the rows. allowed: the ids of those that pass it, found out by the store.
    is_read: whether the embedder reads the query; of one that it does not the words alone make a hybrid score.
    min_relevance: what is less relevant is left out (`domain.relevance`); None for everything.
    zone: in which days and weekdays of the query are meant; None for the day of each row's writer.
    asked_at: when it is asked, None for now; without a zone, times in the query are meant in this one's. times: those
    that the query names (`domain.ranking.times_of`): what happened near to one of them has a better score.
    """

    scope: Scope = field(default_factory=Scope)
    include: tuple[str, ...] = ()
    query: str | None = None
    embedding: npt.NDArray[np.float32] | None = None
    mode: SearchMode | None = None
    top_k: int = DEFAULT_TOP_K
    min_similarity: float | None = None
    min_confidence: float | None = None
    min_relevance: float | None = None
    start: datetime | None = None
    end: datetime | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    also: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    explain: bool = False
    current_first: bool | None = None
    history: bool = True
    in_force: bool = False
    where: Expression | None = None
    allowed: npt.NDArray[np.int64] | None = None
    is_read: bool = True
    zone: tzinfo | None = None
    asked_at: datetime | None = None
    times: tuple[NamedTime, ...] = ()

    @property
    def vector_weight(self) -> float:
        """Return the weight of the cosine in a hybrid score; the rest is that of the words."""
        return VECTOR_WEIGHT if self.is_read else 0.0

    @property
    def effective_mode(self) -> SearchMode:
        """Hybrid unless said otherwise; by vector where there are no words to look for."""
        if self.mode is not None:
            return self.mode
        return SearchMode.HYBRID if self.query is not None else SearchMode.VECTOR


@dataclass(frozen=True)
class TermShare:
    """What one word of the query added to a result's keyword score."""

    term: str
    weight: float
    idf: float
    score: float


class TimeShare(NamedTuple):
    """What the times of a query did to a score. closeness: to the nearest one, from 0 to 1. factor: of the score."""

    named: tuple[NamedTime, ...]
    closeness: float
    factor: float


class RerankShare(NamedTuple):
    """What a reranker said of a hit. score: its own, on a scale of its own. place: the one before it, from 1."""

    score: float
    place: int


class Kinship(StrEnum):
    """How it is known that two hits speak of one matter: by what they say, or by an open conflict between them."""

    MATTER = "matter"
    CONFLICT = "conflict"


class Pair(NamedTuple):
    """Two rows that speak of one matter, by their ids."""

    newer: int
    older: int
    by: Kinship = Kinship.MATTER


class Precedence(NamedTuple):
    """Why a hit comes before others whose scores are better.

    older: the best placed older hit of the same matter, by its id. place: of the newer hit by its score, from 1.
    """

    older: int
    by: Kinship
    place: int


class Hit(NamedTuple):
    """One row found.

    id: of the row. score: in which results are ordered. similarity: cosine, None where no vector was compared.
    keyword: BM25, None where no words were. substance: the factor of a hybrid score, see `domain.substance`.
    happened: in seconds since the epoch. precedence: None where the score alone made its place. vector_weight: that of
    the cosine in a hybrid score. relevance: how likely it is what was asked for, see `domain.relevance`;
    None where nothing could tell. time: None where the query names no time. rerank: None where no reranker made the
    order.
    """

    id: int
    score: float
    similarity: float | None
    keyword: float | None
    substance: float
    confidence: float
    terms: tuple[TermShare, ...] = ()
    happened: float = 0.0
    precedence: Precedence | None = None
    vector_weight: float = VECTOR_WEIGHT
    relevance: float | None = None
    time: TimeShare | None = None
    rerank: RerankShare | None = None


@dataclass(frozen=True)
class Ranking:
    """The hits in order, and the account: considered = matched + sum of filtered. index: how near rows were found.

    pairs: those of the hits that speak of one matter. notes: the ids of those of the best hits that are no turns of a
    conversation; none where the current fact first was not asked for.
    """

    hits: tuple[Hit, ...]
    matched: int
    filtered: Mapping[str, int]
    index: str = "exact"
    pairs: tuple[Pair, ...] = ()
    notes: frozenset[int] = frozenset()

    @property
    def considered(self) -> int:
        return self.matched + sum(self.filtered.values())


EMPTY_RANKING = Ranking((), 0, {})
