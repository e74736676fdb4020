"""An embedder without a model: signed feature hashing of words and pieces of words.

Texts that share words, or parts of words, are near each other, so that ranking can be tested. It knows
nothing of meaning.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np

from apps.llm.domain.embedder import EmbeddingSpaceId, Vectors, check_texts, normalise
from apps.retrieval.domain.text.normal import nfkc

_WORD = re.compile(r"\w+")
_WORD_WEIGHT = 1.0
_PIECE_WEIGHT = 1.0
# Tells apart texts with the same words, and gives a direction to a text without any.
_TEXT_WEIGHT = 0.1
_TEXT_FEATURES = 4
_PIECE_CHARS = (2, 3, 4)

Feature = tuple[int, float]


class HashingEmbedder:
    """Deterministic vectors, the same in every process and on every machine.

    dimension: the length of the vectors.
    """

    def __init__(self, dimension: int = 384) -> None:
        self.space = EmbeddingSpaceId(model="hashing/v1", dimension=dimension)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        vectors = np.zeros((len(texts), self.space.dimension), dtype=np.float64)
        for row, text in zip(vectors, check_texts(texts), strict=True):
            self._fill(row, text)
        return normalise(vectors)

    def _fill(self, row: np.ndarray, text: str) -> None:
        words = Counter(_WORD.findall(nfkc(text).casefold()))
        for word, count in words.items():
            for number, weight in _word_features(word):
                row[number % self.space.dimension] += weight * count**0.5
        for number, weight in _text_features(text):
            row[number % self.space.dimension] += weight
        if not row.any():  # features that cancel each other out to the last bit
            row[_number(text, "t") % self.space.dimension] = 1.0


@lru_cache(maxsize=65_536)
def _word_features(word: str) -> tuple[Feature, ...]:
    """The word itself and its pieces: (number, signed weight). The pieces of a word weigh the same together."""
    pieces = sorted(set(_pieces(word)))
    weight = _PIECE_WEIGHT / max(1, len(pieces)) ** 0.5
    return tuple(
        chain(
            [_signed(word, "w", _WORD_WEIGHT)],
            (_signed(piece, "p", weight) for piece in pieces),
        )
    )


def _pieces(word: str) -> Iterator[str]:
    marked = f"<{word}>"
    for size in _PIECE_CHARS:
        yield from (marked[start : start + size] for start in range(len(marked) - size + 1))


def _text_features(text: str) -> Iterator[Feature]:
    return (_signed(text, f"t{number}", _TEXT_WEIGHT) for number in range(_TEXT_FEATURES))


def _signed(feature: str, kind: str, weight: float) -> Feature:
    number = _number(feature, kind)
    return number >> 1, weight if number & 1 else -weight


def _number(feature: str, kind: str) -> int:
    digest = hashlib.blake2b(feature.encode(), digest_size=8, person=kind.encode()).digest()
    return int.from_bytes(digest, "little")
