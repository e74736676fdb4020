"""Vectors of the contents of events, as this process last used them (DESIGN D2)."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from prometheus_client import Counter

from apps.llm.services import embed_texts, get_embedder

Vector = npt.NDArray[np.float32]
CACHE_BYTES = 32 * 1024 * 1024
_ENTRY_BYTES = 250  # key, array object and place in the dictionary
EMBEDDED = Counter("timeline_texts_embedded_total", "Contents of events embedded for text queries, and not remembered.")


class VectorCache:
    """The vectors used last, as many as fit into a size in bytes. Contents are known by their hash."""

    def __init__(self, max_bytes: int = CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()
        self._nbytes = 0
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        return self._nbytes

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """The unit vectors of texts by the configured model, in their order. Raises EmbeddingError."""
        space = f"{get_embedder().space}\0".encode()
        keys = [hashlib.blake2b(space + text.encode(), digest_size=16).digest() for text in texts]
        with self._lock:
            found = {key: vector for key in keys if (vector := self._use(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            EMBEDDED.inc(len(missing))
            made = dict(zip(missing, embed_texts(list(missing.values())), strict=True))
            found |= made
            with self._lock:
                self._remember(made)
        return [found[key] for key in keys]

    def _use(self, key: bytes) -> Vector | None:
        if key not in self._vectors:
            return None
        self._vectors.move_to_end(key)
        return self._vectors[key]

    def _remember(self, made: dict[bytes, Vector]) -> None:
        for key, vector in made.items():
            if key not in self._vectors:
                # A copy: a row of a matrix would keep the whole matrix.
                self._vectors[key] = vector.copy()
                self._nbytes += vector.nbytes + _ENTRY_BYTES
        while self._nbytes > self._max_bytes and self._vectors:
            _, dropped = self._vectors.popitem(last=False)
            self._nbytes -= dropped.nbytes + _ENTRY_BYTES


_cache = VectorCache()


def vector_cache() -> VectorCache:
    """The cache of this process."""
    return _cache
