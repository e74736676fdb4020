"""Measures what searches cost on this machine, for the choice among their ways (DESIGN D9)."""

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from apps.retrieval.domain.planner import SearchCosts
from apps.retrieval.domain.vectors.cosines import Vectors, cosines, cosines_at
from apps.retrieval.domain.vectors.graph import VectorGraph, breadth_for
from apps.retrieval.domain.vectors.synthetic import Clusters

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
    # The line misses each time by about the same share: narrow searches are the frequent ones.
    weights = [1 / taken for taken in searches]
    slope, fixed = np.polyfit([breadth_for(asked) for asked in _ASKED], searches, 1, w=weights)
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
    """In microseconds. All take their turns, so that what else the machine does troubles them alike.

    Each turn with queries of its own: what one has just looked at is quickly at hand for the next.
    """
    times: list[list[float]] = [[] for _ in tries]
    for turn in range(len(queries)):
        for number, work in enumerate(tries):
            times[number].append(_microseconds(work, queries[turn - number * len(queries) // len(tries)]))
    return (statistics.median(taken) for taken in times)


def _microseconds(work: Try, query: Vectors) -> float:
    started = time.perf_counter()
    work(query)
    return (time.perf_counter() - started) * 1e6


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
