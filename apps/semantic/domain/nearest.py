"""Which stored memories are near enough to a new one to be compared with it (DESIGN D5).

The nearest by cosine and those that share the rarest words. Of labelled pairs that the detector notices, hidden among
3,000 turns of conversation, 99% are among these (docs/explain/conflicts.md).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from apps.retrieval.domain.bm25 import inverse_document_frequency
from apps.retrieval.domain.postings import Bools, Floats
from apps.retrieval.domain.rows import RowStore

T = TypeVar("T")

BY_VECTOR = 8
BY_WORDS = 4
MIN_COSINE = 0.25
# A word that more of the memories have tells next to nothing, and takes the longest to look up.
MAX_COMMON = 50
MAX_SHARE = 0.1


class Near(NamedTuple):
    """A memory near a new one. shared: the weights (idf) of the words that both have."""

    slot: int
    cosine: float
    shared: float


def nearest(shard: RowStore, visible: Bools, cosines: npt.NDArray[np.float32], terms: Iterable[int]) -> list[Near]:
    """The memories to compare with, each once, in the order of their slots.

    visible: which slots may be compared. cosines: of the new memory with every slot; both of shape (shard.size,).
    terms: the hashes of its words.
    """
    shared = _shared_words(shard, visible, terms)
    by_vector = _top(np.where(visible, cosines, -1.0), BY_VECTOR, MIN_COSINE)
    by_words = _top(shared, BY_WORDS, 0.0)
    slots = sorted({*by_vector.tolist(), *by_words.tolist()})
    return [Near(slot, float(cosines[slot]), float(shared[slot])) for slot in slots]


def best_of(found: Sequence[tuple[T, Near]]) -> list[T]:
    """Of what was found near one memory in several places, as many as `nearest` finds in one."""
    if len(found) <= BY_WORDS:
        return [one for one, _ in found]
    by_vector = sorted(found, key=lambda pair: -pair[1].cosine)[:BY_VECTOR]
    by_words = sorted(found, key=lambda pair: -pair[1].shared)[:BY_WORDS]
    chosen = {id(one) for one, near in by_vector if near.cosine > MIN_COSINE}
    chosen |= {id(one) for one, near in by_words if near.shared > 0}
    return [one for one, _ in found if id(one) in chosen]


def _shared_words(shard: RowStore, visible: Bools, terms: Iterable[int]) -> Floats:
    """The sum of the weights (idf) of the words that each slot shares. Shape (size,)."""
    shared = np.zeros(shard.size)
    documents = int(np.count_nonzero(visible))
    limit = max(MAX_COMMON, MAX_SHARE * documents)
    for term in terms:
        slots, _ = shard.postings.of(term)
        slots = slots[visible[slots]]
        if 0 < len(slots) <= limit:
            shared[slots] += inverse_document_frequency(documents, len(slots))
    return shared


def _top(scores: npt.NDArray[np.floating], count: int, above: float) -> npt.NDArray[np.int64]:
    """The slots of the highest scores, at most `count`, all above a limit."""
    best = np.argpartition(scores, -count)[-count:] if len(scores) > count else np.arange(len(scores))
    return best[scores[best] > above]
