"""Find the stored memories that are near enough to another one to be compared with it (DESIGN D5).

They are the nearest by cosine and those that share the rarest words. Of labelled pairs that the detector notices,
hidden among 3,000 turns of conversation, 99% are among these (docs/explain/conflicts.md).
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope
from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain.bm25 import inverse_document_frequency
from apps.retrieval.domain.content import text_code
from apps.retrieval.domain.postings import Bools, Slots
from apps.retrieval.domain.ranking import visible_slots
from apps.retrieval.domain.rows import RowStore
from apps.retrieval.domain.text.terms import query_terms, term_hash
from apps.retrieval.domain.vectors.cosines import cosines_at, cosines_of_each
from apps.semantic.domain.memory import TAGS_OF_PLACES
from apps.semantic.index.cache import index_cache
from apps.semantic.models import Memory
from apps.semantic.store.rows import Vector

BY_VECTOR = 8
BY_WORDS = 4
# Of the nearest by cosine so many are read by the judge of pairs whatever their words say. Among ten statements about
# one subject, what a newer one replaces is one of these for 100% of the English and 93% of the Chinese ones.
READ_NEAREST = 4
# Those of them that are as near as this, and those that are hardly farther than the nearest: among 600 statements of
# one user, 42% fewer pairs, in which 0.4% of what a newer statement replaces or says again is left out (decision 109).
READ_COSINE = 0.55
READ_GAP = 0.15
MIN_COSINE = 0.25
# A word that more of the memories have says next to nothing, and takes the longest to look up.
MAX_COMMON = 50
MAX_SHARE = 0.1
# Cosines computed at once, 16 MB of them; and words looked up for one memory.
MAX_COSINES = 4_000_000
MAX_TERMS = 128
# Places of which the slots are remembered while the memories of a batch are compared.
_PLACES = 16
# The most by which a cosine of a product of matrices, where the order of additions depends on what else is multiplied,
# differs from that of the two vectors alone.
PRODUCT_ERROR = 1e-4
# The column of indexes that says whether a memory is managed; stores of candidates, of which none is, have it not.
MANAGED = "is_managed"


@dataclass(frozen=True, eq=False)
class Probe:
    """A memory whose neighbours are searched.

    terms: the hashes of its words. scope: exact, with empty strings for what it does not have. before: only memories
    with a lower id are compared. exclude: the id of one that is not. place: the values of TAGS_OF_PLACES; only memories
    that may hold there are compared, which are global or name no other one; with None those of every place. text: see
    `IndexRow`; memories with that text are not compared: the same may be true of many moments, and would leave no room
    for others.
    """

    vector: Vector
    terms: Sequence[int]
    scope: Scope
    before: int | None = None
    exclude: int | None = None
    place: tuple[str, ...] | None = None
    text: int = 0


@dataclass(frozen=True, eq=False)
class Neighbour:
    """A memory near a probe. id: its primary key. vector: a copy. shared: the weights (idf) of the words in common.

    cosine: on the scale of thresholds (`retrieval.domain.vectors.scale`).
    """

    id: int
    vector: Vector
    cosine: float
    shared: float


class Neighbourhood(NamedTuple):
    """A stored memory with a copy of its vector and the older memories near it."""

    vector: Vector
    near: list[Neighbour]


def terms_of(content: str, keywords: Sequence[str]) -> list[int]:
    """Return the hashes of the words by which a memory finds those that share them."""
    return [term_hash(word) for word in query_terms(" ".join((content, *keywords)))[:MAX_TERMS]]


def neighbours(store: RowStore, probes: Sequence[Probe], now: datetime) -> list[list[Neighbour]]:
    """Find the memories of a store near each probe, in its exact scope, that are neither expired nor managed.

    Return one list for each probe, in order.
    """
    found: list[list[Neighbour]] = [[] for _ in probes]
    places: dict[Scope, list[int]] = defaultdict(list)
    for place, probe in enumerate(probes):
        places[probe.scope].append(place)
    step = max(1, MAX_COSINES // max(1, store.size))
    for scope, mine in places.items() if len(store) else ():
        visible = visible_slots(store, scope, now)
        if MANAGED in store.columns:
            visible = visible & store.having(MANAGED, "false")
        here = lru_cache(_PLACES)(partial(slots_of_place, store, visible))
        for start in range(0, len(mine), step):
            chunk = mine[start : start + step]
            rows = cosines_of_each(store.vectors, np.stack([probes[place].vector for place in chunk]))
            for place, cosines in zip(chunk, rows, strict=True):
                found[place] = nearest(store, here(probes[place].place), cosines, probes[place])
    return found


def slots_of_place(store: RowStore, visible: Bools, place: tuple[str, ...] | None) -> Bools:
    """Return which of the visible slots may hold in a place; all for None. Shape (store.size,)."""
    named = [(tag, value) for tag, value in zip(TAGS_OF_PLACES, place, strict=True) if value] if place else []
    if not named:
        return visible
    here = np.logical_and.reduce([store.having(tag, value) | store.having(tag, "") for tag, value in named])
    return np.asarray(visible & (here | store.having("is_global", "true")))


def nearest(store: RowStore, visible: Bools, cosines: npt.NDArray[np.float32], probe: Probe) -> list[Neighbour]:
    """Return the memories to compare with a probe, each once, in the order of their ids.

    visible: which slots are in its scope and place. cosines: of the probe with every slot; both of shape (store.size,).
    """
    if probe.before is not None:
        visible = visible & (store.ids < probe.before)
    if probe.exclude is not None:
        visible = visible & (store.ids != probe.exclude)
    if probe.text:
        visible = visible & (store.texts != probe.text)
    shared = np.zeros(store.size)
    documents = int(np.count_nonzero(visible))
    limit = max(MAX_COMMON, MAX_SHARE * documents)
    for term in probe.terms:
        slots, _ = store.postings.of(term)
        slots = slots[visible[slots]]
        if 0 < len(slots) <= limit:
            shared[slots] += inverse_document_frequency(documents, len(slots))
    sharing = np.flatnonzero(shared)
    by_words = sharing[best_places(shared[sharing], store.ids[sharing], BY_WORDS)]
    curve = store.scale.statements
    least = curve.cosine(MIN_COSINE)
    near = np.flatnonzero(visible & (cosines > least - PRODUCT_ERROR))
    near = near[at_least_nth(cosines[near], BY_VECTOR, PRODUCT_ERROR)]
    exact = cosines_at(store.vectors, near, probe.vector)
    best = best_places(exact, store.ids[near], BY_VECTOR)
    chosen = np.union1d(near[best[exact[best] > least]], by_words)
    chosen = chosen[np.argsort(store.ids[chosen])]
    return [
        Neighbour(int(store.ids[slot]), store.vectors[slot].copy(), curve.place(float(cosine)), float(shared[slot]))
        for slot, cosine in zip(chosen, cosines_at(store.vectors, chosen, probe.vector), strict=True)
    ]


def best_places(scores: npt.NDArray[np.floating[Any]], ids: npt.NDArray[np.int64], count: int) -> Slots:
    """Return the places of the `count` highest scores, the highest first; of equal ones those of the newest rows.

    So every process, in whose index the rows lie in an order of their own, finds the same.
    """
    places = np.flatnonzero(at_least_nth(scores, count))
    return np.asarray(places[np.lexsort((-ids[places], -scores[places]))][:count])


def at_least_nth(scores: npt.NDArray[np.floating[Any]], count: int, error: float = 0.0) -> Bools:
    """Return which scores are among the `count` highest, or as high as the last of these; within an error."""
    if len(scores) <= count:
        return np.ones(len(scores), dtype=np.bool_)
    return np.asarray(scores >= np.partition(scores, -count)[-count] - error)


def best_of(found: Sequence[Neighbour]) -> set[Neighbour]:
    """Return, of what was found near one memory in several stores, as many as `nearest` finds in one."""
    if len(found) <= BY_WORDS:
        return set(found)
    by_vector = sorted(found, key=lambda one: (-one.cosine, -one.id))[:BY_VECTOR]
    by_words = sorted(found, key=lambda one: (-one.shared, -one.id))[:BY_WORDS]
    return {one for one in by_vector if one.cosine > MIN_COSINE} | {one for one in by_words if one.shared > 0}


def nearest_of(found: Collection[Neighbour]) -> set[Neighbour]:
    """Return, of what was found near one memory, those that the judge of pairs reads."""
    nearest = sorted(found, key=lambda one: (-one.cosine, -one.id))[:READ_NEAREST]
    least = min(READ_COSINE, nearest[0].cosine - READ_GAP) if nearest else READ_COSINE
    return {one for one in nearest if one.cosine >= least}


def stored_neighbours(memories: Sequence[Memory], space: EmbeddingSpace) -> dict[int, Neighbourhood]:
    """Find the older memories near stored ones, by primary key. Without a vector, and for managed ones, there are none.

    Takes no lock of the database, and copies what it finds, so that the index may change afterwards. Searches of the
    same user in this process wait for it, so pass some dozens at once. Raises SpaceChangedError.
    """
    # The words are analysed before the index is locked.
    terms = {memory.pk: terms_of(memory.content, memory.keywords) for memory in memories}
    by_user: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        if not memory.managed_by:
            by_user[memory.user_id].append(memory)
    found: dict[int, Neighbourhood] = {}
    for user, mine in by_user.items():
        with index_cache().refreshed([user], space) as [store]:
            slots = store.slots_of(np.array([memory.pk for memory in mine]))
            probes = {
                memory.pk: Probe(
                    vector=store.vectors[slot].copy(),
                    terms=terms[memory.pk],
                    scope=Scope(memory.user_id, memory.household_id, memory.persona_id),
                    before=memory.pk,
                    place=None if memory.is_global else tuple(getattr(memory, tag) for tag in TAGS_OF_PLACES),
                    text=text_code(memory.content_hash),
                )
                for memory, slot in zip(mine, slots.tolist(), strict=True)
                if slot >= 0 and store.vectors[slot].any()
            }
            near = neighbours(store, list(probes.values()), utcnow(SYSTEM_CLOCK))
        found |= {pk: Neighbourhood(probes[pk].vector, one) for pk, one in zip(probes, near, strict=True)}
    return found
