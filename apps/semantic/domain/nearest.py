"""Which stored memories are near enough to a new one to be compared with it (DESIGN D5).

The nearest by cosine and those that share the rarest words. Of labelled pairs that the detector notices, hidden among
3,000 turns of conversation, 99% are among these (docs/conflict-detection.md).
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from apps.semantic.domain.bm25 import inverse_document_frequency
from apps.semantic.domain.shard import Bools, Floats, Shard

BY_VECTOR = 8
BY_WORDS = 4
MIN_COSINE = 0.25
# A word that more of the memories have tells next to nothing, and takes the longest to look up.
MAX_COMMON = 50
MAX_SHARE = 0.1


def nearest(
    shard: Shard, visible: Bools, cosines: npt.NDArray[np.float32], terms: Iterable[int]
) -> npt.NDArray[np.int64]:
    """The slots of the memories to compare with, each once.

    visible: which slots may be compared. cosines: of the new memory with every slot; both of shape (shard.size,).
    terms: the hashes of its words.
    """
    by_vector = _top(np.where(visible, cosines, -1.0), BY_VECTOR, MIN_COSINE)
    by_words = _top(_shared_words(shard, visible, terms), BY_WORDS, 0.0)
    return np.union1d(by_vector, by_words)


def _shared_words(shard: Shard, visible: Bools, terms: Iterable[int]) -> Floats:
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
