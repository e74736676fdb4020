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
