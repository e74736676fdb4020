"""An embedder without a model: signed feature hashing of words and pieces of words.

Texts that share words, or parts of words, are near each other, so that ranking can be tested. It knows
nothing of meaning.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from apps.core.domain.caches import SizedCache
from apps.llm.domain.embedder import EmbeddingSpaceId, TextRole, Vectors, check_texts, normalise
from apps.retrieval.domain.text.normal import nfkc

_WORD = re.compile(r"\w+")
_WORD_WEIGHT = 1.0
_PIECE_WEIGHT = 1.0
# Distinguishes texts with the same words, and is the direction of a text without any.
_TEXT_WEIGHT = 0.1
_TEXT_FEATURES = 4
_PIECE_CHARS = (2, 3, 4)
# The features of a longer word, such as a text that is written without spaces, take up to megabytes.
MAX_REMEMBERED_CHARS = 64

Feature = tuple[int, float]


class HashingEmbedder:
    """Deterministic vectors, the same in every process and on every machine.

    dimension: the length of the vectors.
    """

    def __init__(self, dimension: int = 384) -> None:
        self.space = EmbeddingSpaceId(model="hashing/v1", dimension=dimension)

    def embed(self, texts: Sequence[str], role: TextRole = TextRole.PASSAGE) -> Vectors:
        """See `Embedder.embed`."""
        dimension = self.space.dimension
        vectors = np.zeros((len(texts), dimension), dtype=np.float64)
        for row, text in zip(vectors, check_texts(texts), strict=True):
            for word, count in Counter(_WORD.findall(nfkc(text).casefold())).items():
                features = remembered_features if len(word) <= MAX_REMEMBERED_CHARS else compute_features
                for number, weight in features(word):
                    row[number % dimension] += weight * count**0.5
            for place in range(_TEXT_FEATURES):
                number, weight = sign_feature(text, f"t{place}", _TEXT_WEIGHT)
                row[number % dimension] += weight
            if not row.any():  # features that cancel each other out to the last bit
                row[hash_feature(text, "t") % dimension] = 1.0
        return normalise(vectors)

    def known_share(self, text: str) -> float:
        """Return 1: every word has features of its own."""
        return 1.0


def compute_features(word: str) -> tuple[Feature, ...]:
    """Return the word itself and its pieces: (number, signed weight). The pieces of a word weigh the same together."""
    marked = f"<{word}>"
    pieces = sorted({marked[start : start + size] for size in _PIECE_CHARS for start in range(len(marked) - size + 1)})
    weight = _PIECE_WEIGHT / max(1, len(pieces)) ** 0.5
    return (sign_feature(word, "w", _WORD_WEIGHT), *(sign_feature(piece, "p", weight) for piece in pieces))


FEATURES = SizedCache("features of words", megabytes=16, entry_bytes=1_000, char_bytes=350)
remembered_features = FEATURES.remember(compute_features)


def sign_feature(feature: str, kind: str, weight: float) -> Feature:
    """Return a number for a feature, and its weight with a sign, which hashing decides."""
    number = hash_feature(feature, kind)
    return number >> 1, weight if number & 1 else -weight


def hash_feature(feature: str, kind: str) -> int:
    """Return 64 bits for a feature of a kind."""
    digest = hashlib.blake2b(feature.encode(), digest_size=8, person=kind.encode()).digest()
    return int.from_bytes(digest, "little")
