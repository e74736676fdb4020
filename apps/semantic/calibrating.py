"""Measures what searches cost on this machine, for the choice among their ways (DESIGN D9)."""

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from apps.retrieval.domain.cosines import Vectors, cosines, cosines_at
from apps.retrieval.domain.graph import VectorGraph, breadth_for
from apps.retrieval.domain.made_up_vectors import Clusters
from apps.retrieval.domain.planning import SearchCosts

# Their vectors fit in no processor's cache, and a graph of them is made within a minute.
ROWS = 50_000
MIN_ROWS = 1_000
_QUERIES = 60
_SUBSET_SHARE = 0.1
_ASKED = (10, 100, 200, 400)
_LEAST_FIXED = 1.0
_SEED = 24

Advance = Callable[[int], None]
Try = Callable[[Vectors], object]


def calibrate(dimension: int, rows: int = ROWS, progress: Advance = lambda _: None) -> SearchCosts:
    """What a search costs with vectors of `dimension` numbers, in the median of many.

    progress: told how many rows of the graph were made since its last call. Takes about a minute on two cores.
    """
    clusters = Clusters.for_rows(rows, dimension, _SEED)
    vectors, queries = clusters.draw(rows).vectors, clusters.draw(_QUERIES).vectors
    graph = _graph_of(vectors, progress)
    some = np.sort(np.random.default_rng(_SEED).permutation(rows)[: max(1, int(_SUBSET_SHARE * rows))])
    tries: list[Try] = [lambda query: cosines(vectors, query), lambda query: cosines_at(vectors, some, query)]
    tries += [_search(graph, asked) for asked in _ASKED]
    scan, subset, *searches = _medians(tries, queries)
    breadths = [breadth_for(asked) for asked in _ASKED]
    slope, fixed = np.polyfit(breadths, searches, 1)
    return SearchCosts(
        scan=_rounded(1000 * scan / rows),
        subset=_rounded(1000 * subset / len(some)),
        graph=_rounded(100 * slope),
        fixed=_rounded(max(fixed, _LEAST_FIXED)),
        dimension=dimension,
    )


def _graph_of(vectors: Vectors, progress: Advance) -> VectorGraph:
    told = 0

    def tell(done: int, total: int) -> None:
        nonlocal told
        progress(done - told)
        told = done

    return VectorGraph.of(np.arange(len(vectors)), vectors, threads=os.cpu_count() or 1, progress=tell)


def _search(graph: VectorGraph, asked: int) -> Try:
    return lambda query: graph.search(query, asked)


def _medians(tries: Sequence[Try], queries: Vectors) -> Iterator[float]:
    """In microseconds. All take their turns, so that what else the machine does troubles them alike."""
    times = [[_microseconds(work, query) for work in tries] for query in queries]
    return (statistics.median(column) for column in zip(*times, strict=True))


def _microseconds(work: Try, query: Vectors) -> float:
    started = time.perf_counter()
    work(query)
    return (time.perf_counter() - started) * 1e6


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
