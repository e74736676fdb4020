"""How the nearest rows of a shard are looked for: at all of them, at those that match, or by the graph (DESIGN D9).

All three give the same rows, the graph with its recall; they differ in what they cost. The costs are measured
(`manage.py calibrate_search`), the choice is arithmetic.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

from apps.retrieval.domain.graph import MAX_ASKED, MIN_EF

# Asked for on top of what the share of matching rows suggests, since they are not spread evenly.
SPARE = 1.5


class SearchWay(StrEnum):
    """How the nearest rows are found."""

    SCAN = "exact"
    SUBSET = "exact_subset"
    GRAPH = "hnsw"


@dataclass(frozen=True)
class SearchCosts:
    """What a search costs in microseconds, for 384 numbers a row.

    scan: a thousand rows where they lie. subset: a thousand rows picked out. graph: a hundred rows of breadth.
    fixed: any search in a graph.
    """

    scan: float
    subset: float
    graph: float
    fixed: float


# Measured on two cores (docs/vector-index.md).
DEFAULT_COSTS = SearchCosts(scan=40.0, subset=150.0, graph=180.0, fixed=60.0)


@dataclass(frozen=True)
class SearchPlan:
    """way, and for the graph how many of its nearest rows to ask for."""

    way: SearchWay
    asked: int = 0


def plan(rows: int, matching: int, top_k: int, in_graph: int, costs: SearchCosts = DEFAULT_COSTS) -> SearchPlan:
    """The cheapest way to the `top_k` nearest of `matching` rows among `rows`, of which the graph knows `in_graph`."""
    prices = {SearchWay.SCAN: costs.scan * rows / 1000, SearchWay.SUBSET: costs.subset * matching / 1000}
    asked = _asked(rows, matching, top_k)
    if in_graph and asked <= min(MAX_ASKED, in_graph):
        breadth = max(MIN_EF, asked + asked // 4)
        missing = max(rows - in_graph, 0)
        prices[SearchWay.GRAPH] = costs.fixed + costs.graph * breadth / 100 + costs.subset * missing / 1000
    way = min(prices, key=lambda way: (prices[way], way))
    return SearchPlan(way, asked if way is SearchWay.GRAPH else 0)


def _asked(rows: int, matching: int, top_k: int) -> int:
    """How many of the nearest rows hold the `top_k` nearest matching ones, if those lie anywhere."""
    if matching == rows:
        return min(top_k, rows)
    return math.ceil(SPARE * top_k * rows / max(matching, 1)) + top_k


# Below so many rows a graph gains nothing.
GRAPH_ROWS = 10_000
# So many rows that the graph does not know are looked at one by one without being noticed.
COVER_AT = 500
# A graph that misses or has lost a larger share than this is made anew.
MISSING_SHARE = 0.25
REMOVED_SHARE = 0.3


class GraphNeed(StrEnum):
    """What a shard's graph is in need of."""

    NOTHING = "nothing"
    COVER = "cover"
    BUILD = "build"


def graph_need(living: int, in_graph: int | None, removed: int, room: int) -> GraphNeed:
    """What to do for a shard of `living` rows whose graph knows `in_graph` of them (None without one)."""
    if living < GRAPH_ROWS:
        return GraphNeed.NOTHING
    if in_graph is None or removed > REMOVED_SHARE * living:
        return GraphNeed.BUILD
    missing = living - in_graph
    if missing <= COVER_AT:
        return GraphNeed.NOTHING
    return GraphNeed.COVER if missing <= min(room, MISSING_SHARE * living) else GraphNeed.BUILD
