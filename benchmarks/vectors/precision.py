"""What numbers of 16 bits would save and cost, in the database and in memory (docs/decisions/0020)."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from apps.llm.models import EmbeddingSpace
from apps.retrieval.domain.vectors.cosines import Vectors, cosines
from benchmarks.vectors.data import FILTERS, Question, ScopeData, questions
from benchmarks.vectors.figures import Ask, read_figures, take_turns
from benchmarks.vectors.raw import (
    BY_GRAPH,
    EXACT,
    TOP_K,
    HnswlibWay,
    Kind,
    SqlWay,
    Way,
    best_of,
    raw_connection,
    raw_table,
    timed_answer,
)

ROUNDS = 5
LEAST_CALLS = 20
# Rows turned into float32 at a time: they stay in the processor's cache.
_CHUNK = 1_024
_SESSIONS = {"exact": EXACT, "hnsw": BY_GRAPH}
Halves = npt.NDArray[np.float16]


class ArrayWay:
    """Looks at all rows of an array, which is turned into float32 in passing if it is not."""

    def __init__(self, name: str, vectors: Vectors | Halves) -> None:
        self.name, self._vectors = name, vectors

    def search(self, question: Question) -> Sequence[int]:
        """Exact, but for what was lost before."""
        return best_of(np.arange(len(self._vectors)), self._cosines(question.vector))

    def _cosines(self, vector: Vectors) -> Vectors:
        if self._vectors.dtype == np.float32:
            return cosines(self._vectors.astype(np.float32, copy=False), vector)
        parts = range(0, len(self._vectors), _CHUNK)
        return np.concatenate(
            [cosines(self._vectors[first : first + _CHUNK].astype(np.float32), vector) for first in parts]
        )


def measure_precision(
    data: ScopeData, space: EmbeddingSpace, rows: Mapping[int, int], seconds: float
) -> dict[str, Any]:
    """Times, recall and sizes of both precisions, side by side. seconds: spent at most on each way."""
    halves = data.vectors.astype(np.float16)
    rounded = ScopeData(
        data.user, data.texts, halves.astype(np.float32), data.clusters, data.queries, data.query_clusters
    )
    with ExitStack() as stack:
        tables = {kind: stack.enter_context(raw_table(data.user, space, kind)) for kind in Kind}
        ways: list[Way] = [
            SqlWay(f"sql_{name}_{kind}", stack.enter_context(raw_connection(**session)), rows, kind)
            for name, session in _SESSIONS.items()
            for kind in Kind
        ]
        ways += [ArrayWay("numpy_float32", data.vectors), ArrayWay("numpy_float16", halves)]
        ways += [_named("hnswlib_float32", HnswlibWay(data)), _named("hnswlib_float16", HnswlibWay(rounded))]
        return {
            "ways": _side_by_side(ways, questions(data, FILTERS[0], TOP_K), seconds),
            "table_mb": {str(kind): round(table.table_bytes / 1e6, 1) for kind, table in tables.items()},
            "graph_mb": {str(kind): round(table.graph_bytes / 1e6, 1) for kind, table in tables.items()},
            "graph_s": {str(kind): round(table.graph_seconds, 1) for kind, table in tables.items()},
            "array_mb": {"float32": round(data.vectors.nbytes / 1e6, 1), "float16": round(halves.nbytes / 1e6, 1)},
            "cosine_error": _errors(data, rounded),
        }


def _named(name: str, way: HnswlibWay) -> Way:
    way.name = name
    return way


def _side_by_side(ways: Sequence[Way], asked: Sequence[Question], seconds: float) -> list[dict[str, Any]]:
    turns: dict[str, Ask] = {way.name: partial(timed_answer, way) for way in ways}
    for way in ways:
        way.search(asked[0])
    samples = take_turns(turns, asked, rounds=ROUNDS, seconds=seconds, least=LEAST_CALLS)
    return [each.as_json() for each in read_figures(len(asked[0].data), FILTERS[0].name, samples)]


def _errors(data: ScopeData, rounded: ScopeData) -> dict[str, float]:
    """How far cosines with rounded vectors are off."""
    off = [np.abs(cosines(data.vectors, query) - cosines(rounded.vectors, query)) for query in data.queries[:20]]
    return {"mean": float(f"{np.mean(off):.3g}"), "max": float(f"{np.max(off):.3g}")}
