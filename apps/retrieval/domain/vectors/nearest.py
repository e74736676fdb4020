"""The rows of a store that are nearest to a vector, found in the cheapest way (see `domain.planner`)."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from apps.retrieval.domain.planner import DEFAULT_COSTS, RowCounts, SearchCosts, SearchWay, plan
from apps.retrieval.domain.postings import Bools, Floats, Slots
from apps.retrieval.domain.rows import RowStore
from apps.retrieval.domain.vectors.cosines import cosines, cosines_at

Vector = npt.NDArray[np.float32]
# Similarities are shown with six decimals.
ROUNDING = 1e-6


class NearRows(NamedTuple):
    """slots: at least the wanted ones, in no order. similarities: their cosines. way: how they were found."""

    slots: Slots
    similarities: Floats
    way: SearchWay


def nearest_rows(
    store: RowStore, vector: Vector, matching: Bools, top_k: int, costs: SearchCosts = DEFAULT_COSTS
) -> NearRows:
    """Return the `top_k` nearest of the matching slots, or all if there are fewer. matching: of shape (size,)."""
    in_graph = len(store.graph) if store.graph is not None and store.use_graph else 0
    counts = RowCounts(store.size, len(store), int(np.count_nonzero(matching)), in_graph)
    chosen = plan(counts, top_k, costs)
    if chosen.way is SearchWay.GRAPH:
        found = find_by_graph(store, vector, matching, min(top_k, counts.matching), chosen.asked)
        if found is not None:
            return take_best(found, cosines_at(store.vectors, found, vector), top_k, SearchWay.GRAPH)
        chosen = plan(replace(counts, in_graph=0), top_k, costs)
    slots = np.flatnonzero(matching)
    if chosen.way is SearchWay.SUBSET:
        return take_best(slots, cosines_at(store.vectors, slots, vector), top_k, SearchWay.SUBSET)
    return take_best(slots, cosines(store.vectors, vector)[slots], top_k, SearchWay.SCAN)


def find_by_graph(store: RowStore, vector: Vector, matching: Bools, wanted: int, asked: int) -> Slots | None:
    """Return the matching ones of what the graph found, and every matching slot that it does not know.

    None when these are not known to hold the nearest: too few of the graph's rows match, since those that do lie
    elsewhere. Only looking at them all finds them.
    """
    assert store.graph is not None
    near = store.slots_in_graph(store.graph.search(vector, asked))
    near, unknown = near[matching[near]], store.outside_graph()
    if len(near) < wanted:
        return None
    return np.concatenate((near, unknown[matching[unknown]])) if len(unknown) else near


def take_best(slots: Slots, similarities: npt.NDArray[np.float32], top_k: int, way: SearchWay) -> NearRows:
    """Return the rows from the `top_k`th similarity up, and what rounds to it, when there are many more than wanted."""
    if len(slots) > 4 * top_k:
        threshold = np.partition(similarities, len(similarities) - top_k)[len(similarities) - top_k]
        best = similarities >= threshold - ROUNDING
        slots, similarities = slots[best], similarities[best]
    return NearRows(slots, similarities.astype(np.float64), way)
