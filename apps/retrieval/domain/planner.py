"""The way to the nearest rows of a store: scan all, compare those that match, or use the graph (DESIGN D9).

All three give the same rows, the graph with its recall; they differ in what they cost. The costs are measured
(`manage.py calibrate_search`), the choice is arithmetic.
"""

import math
from dataclasses import dataclass, replace
from enum import StrEnum

from apps.retrieval.domain.vectors.graph import breadth_for

# So many standard deviations more rows are asked of the graph than hold the wanted ones on average, if the matching
# rows are anywhere: two searches in a hundred then find too few of them, and compare all rows that match.
SPARE_DEVIATIONS = 2.0
# Rows that match may also be in another region, for instance those of one project. The result of the graph is
# discarded then, so for a filtered search it has to be cheaper by so much. With this share (r = 1 / (1 + r)) no wrong
# choice costs more than 1.62 times the right one.
FILTERED_SHARE = 0.618


class SearchWay(StrEnum):
    """How the nearest rows are found."""

    SCAN = "exact"
    SUBSET = "exact_subset"
    GRAPH = "hnsw"


@dataclass(frozen=True)
class SearchCosts:
    """The costs of a search in microseconds, for vectors of `dimension` numbers.

    scan: a thousand rows where they lie. subset: a thousand rows picked out. graph: a hundred rows of breadth.
    fixed: any search in a graph.
    """

    scan: float
    subset: float
    graph: float
    fixed: float
    dimension: int = 384

    def at(self, dimension: int) -> "SearchCosts":
        """Return the approximate costs of another dimension: nearly all of the time depends on it."""
        factor = dimension / self.dimension
        return replace(
            self,
            scan=self.scan * factor,
            subset=self.subset * factor,
            graph=self.graph * factor,
            dimension=dimension,
        )


# Measured on two cores (docs/explain/vector-index.md).
DEFAULT_COSTS = SearchCosts(scan=45.0, subset=130.0, graph=160.0, fixed=80.0)


@dataclass(frozen=True)
class RowCounts:
    """slots: of the store, dead ones included. matching: of the `living` rows, those that pass the filters of a search.

    in_graph: how many of the living the graph knows; 0 without one.
    """

    slots: int
    living: int
    matching: int
    in_graph: int


@dataclass(frozen=True)
class SearchPlan:
    """way, for the graph how many of its nearest rows to ask for, and about how many microseconds that takes."""

    way: SearchWay
    asked: int
    price: float


def plan(rows: RowCounts, top_k: int, costs: SearchCosts = DEFAULT_COSTS) -> SearchPlan:
    """Return the cheapest way to the `top_k` nearest of the matching rows."""
    scan, subset = costs.scan * rows.slots / 1000, costs.subset * rows.matching / 1000
    exact = SearchPlan(SearchWay.SUBSET, 0, subset) if subset < scan else SearchPlan(SearchWay.SCAN, 0, scan)
    asked = rows_to_ask_for(rows, top_k)
    if not 0 < asked <= rows.in_graph:
        return exact
    unknown = max(rows.living - rows.in_graph, 0)
    price = costs.fixed + costs.graph * breadth_for(asked) / 100 + costs.subset * unknown / 1000
    bearable = exact.price if rows.matching == rows.living else FILTERED_SHARE * exact.price
    return SearchPlan(SearchWay.GRAPH, asked, price) if price < bearable else exact


def rows_to_ask_for(rows: RowCounts, top_k: int) -> int:
    """Return how many of the nearest rows hold the `top_k` nearest matching ones, if those lie anywhere."""
    wanted = min(top_k, rows.matching)
    if rows.matching == rows.living:
        return wanted
    return math.ceil((wanted + SPARE_DEVIATIONS * math.sqrt(wanted)) * rows.living / max(rows.matching, 1))


# Below so many rows a graph gains nothing.
GRAPH_ROWS = 10_000
# So many rows that the graph does not know are compared one by one at no noticeable cost.
COVER_AT = 500
# A graph that misses or has lost a larger share than this is rebuilt.
MISSING_SHARE = 0.25
REMOVED_SHARE = 0.3


class GraphNeed(StrEnum):
    """What a store's graph needs."""

    NOTHING = "nothing"
    COVER = "cover"
    BUILD = "build"


def graph_need(living: int, in_graph: int | None, removed: int, room: int) -> GraphNeed:
    """Return what to do for a store of `living` rows whose graph knows `in_graph` of them (None without one)."""
    if living < GRAPH_ROWS:
        return GraphNeed.NOTHING
    if in_graph is None or removed > REMOVED_SHARE * living:
        return GraphNeed.BUILD
    missing = living - in_graph
    if missing <= COVER_AT:
        return GraphNeed.NOTHING
    return GraphNeed.COVER if missing <= min(room, MISSING_SHARE * living) else GraphNeed.BUILD
