"""The costs of searches on this machine, as `manage.py calibrate_search` measures them (DESIGN D9).

They are kept in a small file beside the snapshots. It is a hint: without it, or with an implausible one, the costs of
another machine are assumed, and searches find the same.
"""

import json
import logging
import math
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path

import numpy as np
from django.conf import settings

from apps.core.files import exchange_file
from apps.retrieval.domain.planner import DEFAULT_COSTS, SearchCosts
from apps.retrieval.domain.vectors.cosines import Vectors, cosines, cosines_at
from apps.retrieval.domain.vectors.graph import VectorGraph, breadth_for
from apps.retrieval.domain.vectors.synthetic import Clusters

logger = logging.getLogger(__name__)
FORMAT_VERSION = 1
_NAME = "search_costs.json"
# No machine is so many times quicker or slower than the one of DEFAULT_COSTS.
_PLAUSIBLE = 1_000.0
# The modification time of the file, None without one, and what was read from it.
_read: tuple[float | None, SearchCosts] | None = None
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


def costs_path() -> Path:
    """Return the path of the file."""
    path: Path = settings.SEMANTIC_INDEX_DIR / _NAME
    return path


def read_search_costs(dimension: int) -> SearchCosts:
    """Return what a search costs with vectors of this length. The file is read again when it has changed."""
    global _read
    try:  # every search does this: making a Path takes five times as long as asking the disk
        changed = os.stat(f"{settings.SEMANTIC_INDEX_DIR}/{_NAME}").st_mtime_ns  # noqa: PTH116
    except OSError:
        changed = None
    known = _read
    if known is None or known[0] != changed:
        known = _read = changed, DEFAULT_COSTS if changed is None else read_costs_file()
    return known[1].at(dimension)


def read_costs_file() -> SearchCosts:
    """Return the costs in the file; the default ones if it cannot be used, or if they are implausible."""
    try:
        data = json.loads(costs_path().read_text())
        if data["format_version"] != FORMAT_VERSION:
            raise ValueError(f"format {data['format_version']}")
        costs = SearchCosts(**{field.name: data[field.name] for field in fields(SearchCosts)})
        if not isinstance(costs.dimension, int) or costs.dimension < 1:
            raise ValueError("dimension")
        usual = DEFAULT_COSTS.at(costs.dimension)
        for name in ("scan", "subset", "graph", "fixed"):
            value = getattr(costs, name)
            if not (math.isfinite(value) and 1 / _PLAUSIBLE <= value / getattr(usual, name) <= _PLAUSIBLE):
                raise ValueError(name)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        logger.warning("the costs of searches cannot be used (%s): calibrate_search measures them", error)
        return DEFAULT_COSTS
    return costs


def write_search_costs(costs: SearchCosts) -> Path:
    """Have all processes that share the data directory use these costs from their next search on. Raises OSError."""
    path = costs_path()
    exchange_file(path, json.dumps({"format_version": FORMAT_VERSION, **asdict(costs)}, indent=2) + "\n")
    return path


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
    ways += [partial(graph.search, count=asked) for asked in _ASKED]
    scan, subset, *searches = median_times(ways, queries)
    # The line misses each time by about the same share: narrow searches are the frequent ones.
    weights = [1 / taken for taken in searches]
    slope, fixed = np.polyfit([breadth_for(asked) for asked in _ASKED], searches, 1, w=weights)
    costs = (1000 * scan / rows, 1000 * subset / len(some), 100 * slope, max(fixed, _LEAST_FIXED))
    scan, subset, slope, fixed = (float(f"{cost:.4g}") for cost in costs)
    return SearchCosts(scan, subset, slope, fixed, dimension)


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
