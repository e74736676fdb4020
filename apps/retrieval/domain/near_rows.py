"""The rows of a shard that are nearest to a vector, found in the cheapest way (see `domain.planning`)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from apps.retrieval.domain.cosines import cosines, cosines_at
from apps.retrieval.domain.graph import VectorGraph
from apps.retrieval.domain.planning import DEFAULT_COSTS, SearchCosts, SearchWay, plan
from apps.retrieval.domain.shard import Bools, Floats, Shard, Slots

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class NearRows:
    """slots: at least the wanted ones, in no order. similarities: their cosines. way: how they were found."""

    slots: Slots
    similarities: Floats
    way: SearchWay


def nearest_rows(
    shard: Shard, vector: Vector, matching: Bools, top_k: int, costs: SearchCosts = DEFAULT_COSTS
) -> NearRows:
    """The `top_k` nearest of the matching slots, or all of them if there are fewer. matching: of shape (size,)."""
    count = int(np.count_nonzero(matching))
    graph = shard.graph
    chosen = plan(shard.size, count, top_k, 0 if graph is None else len(graph), costs)
    if chosen.way is SearchWay.GRAPH and graph is not None:
        found = _by_graph(shard, graph, vector, matching, chosen.asked)
        if len(found) >= min(top_k, count):
            return _best(found, cosines_at(shard.vectors, found, vector), top_k, SearchWay.GRAPH)
        # The matching rows lie elsewhere: only looking at them all finds them.
        chosen = plan(shard.size, count, top_k, 0, costs)
    if chosen.way is SearchWay.SUBSET:
        slots = np.flatnonzero(matching)
        return _best(slots, cosines_at(shard.vectors, slots, vector), top_k, SearchWay.SUBSET)
    slots = np.flatnonzero(matching)
    return _best(slots, cosines(shard.vectors, vector)[slots], top_k, SearchWay.SCAN)


def _by_graph(shard: Shard, graph: VectorGraph, vector: Vector, matching: Bools, asked: int) -> Slots:
    """The matching ones of what the graph gives, and every matching slot that the graph does not know."""
    near = shard.slots_in_graph(graph.search(vector, asked))
    unknown = shard.outside_graph()
    return np.concatenate((near[matching[near]], unknown[matching[unknown]]))


def _best(slots: Slots, similarities: npt.NDArray[np.float32], top_k: int, way: SearchWay) -> NearRows:
    if len(slots) > 4 * top_k:
        threshold = np.partition(similarities, len(similarities) - top_k)[len(similarities) - top_k]
        best = similarities >= threshold
        slots, similarities = slots[best], similarities[best]
    return NearRows(slots, similarities.astype(np.float64), way)
