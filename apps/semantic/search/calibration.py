"""Measure what searches cost on this machine, for the choice among the ways of searching (DESIGN D9)."""

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from apps.retrieval.domain.planner import SearchCosts
from apps.retrieval.domain.vectors.cosines import Vectors, cosines, cosines_at
from apps.retrieval.domain.vectors.graph import VectorGraph, breadth_for
from apps.retrieval.domain.vectors.synthetic import Clusters

# Their vectors fit in no processor's cache, and a graph of them is built within a minute.
ROWS = 50_000
MIN_ROWS = 1_000
_QUERIES = 60
_SUBSET_SHARE = 0.1
_ASKED = (10, 100, 200, 400)
_LEAST_FIXED = 1.0
_SEED = 24

Advance = Callable[[int], None]
Way = Callable[[Vectors], object]


def calibrate(dimension: int, rows: int = ROWS, progress: Advance = lambda _: None) -> SearchCosts:
    """Return what a search costs with vectors of `dimension` numbers, in the median of many.

    progress: receives how many rows of the graph were built since its last call. Takes about a minute on two cores.
    """
    clusters = Clusters.for_rows(rows, dimension, _SEED)
    vectors, queries = clusters.draw(rows).vectors, clusters.draw(_QUERIES).vectors
    reported = 0

    def report(done: int, total: int) -> None:
        nonlocal reported
        progress(done - reported)
        reported = done

    graph = VectorGraph.of(np.arange(len(vectors)), vectors, threads=os.cpu_count() or 1, progress=report)
    some = np.sort(np.random.default_rng(_SEED).permutation(rows)[: max(1, int(_SUBSET_SHARE * rows))])
    ways: list[Way] = [partial(cosines, vectors), partial(cosines_at, vectors, some)]
    ways += [partial(search_graph, graph, asked) for asked in _ASKED]
    scan, subset, *searches = median_times(ways, queries)
    # The line misses each time by about the same share: narrow searches are the frequent ones.
    weights = [1 / taken for taken in searches]
    slope, fixed = np.polyfit([breadth_for(asked) for asked in _ASKED], searches, 1, w=weights)
    costs = (1000 * scan / rows, 1000 * subset / len(some), 100 * slope, max(fixed, _LEAST_FIXED))
    scan, subset, slope, fixed = (float(f"{cost:.4g}") for cost in costs)
    return SearchCosts(scan, subset, slope, fixed, dimension)


def search_graph(graph: VectorGraph, asked: int, query: Vectors) -> object:
    """Search a graph for so many rows."""
    return graph.search(query, asked)


def median_times(ways: Sequence[Way], queries: Vectors) -> Iterator[float]:
    """Yield the median microseconds of each way. All take turns, so that other work of the machine affects them alike.

    In each turn every way has another query: the vectors that one has just read are in the processor's cache.
    """
    times: list[list[float]] = [[] for _ in ways]
    for turn in range(len(queries)):
        for number, way in enumerate(ways):
            query = queries[turn - number * len(queries) // len(ways)]
            started = time.perf_counter()
            way(query)
            times[number].append((time.perf_counter() - started) * 1e6)
    return (statistics.median(taken) for taken in times)
