"""Vectors of the contents of events, as this process last used them (DESIGN D2)."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from apps.core.domain.caches import CacheState, list_cache
from apps.core.per_process import PerProcess
from apps.episodic.metrics import EMBEDDED
from apps.llm.services import embed_texts, get_embedder

Vector = npt.NDArray[np.float32]
CACHE_BYTES = 32 * 1024 * 1024
ENTRY_BYTES = 250  # key, array object and place in the dictionary


class VectorCache:
    """The vectors used last, as many as fit into a size in bytes, by the hash of their text."""

    def __init__(self, max_bytes: int = CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()
        self._nbytes = 0
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Return the size of what is cached."""
        return self._nbytes

    def __len__(self) -> int:
        """Return how many vectors there are."""
        return len(self._vectors)

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """Return the unit vectors of texts by the configured model, in their order. Raises EmbeddingError."""
        space = f"{get_embedder().space}\0".encode()
        keys = [hashlib.blake2b(space + text.encode(), digest_size=16).digest() for text in texts]
        found: dict[bytes, Vector] = {}
        with self._lock:
            for key in keys:
                if key in self._vectors:
                    self._vectors.move_to_end(key)
                    found[key] = self._vectors[key]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            EMBEDDED.inc(len(missing))
            made = dict(zip(missing, embed_texts(list(missing.values())), strict=True))
            found |= made
            self._add(made)
        return [found[key] for key in keys]

    def _add(self, made: dict[bytes, Vector]) -> None:
        """Add vectors, and drop those that were not used for longest."""
        with self._lock:
            for key, vector in made.items():
                if key not in self._vectors:
                    # A copy: a row of a matrix would keep the whole matrix.
                    self._vectors[key] = vector.copy()
                    self._nbytes += vector.nbytes + ENTRY_BYTES
            while self._nbytes > self._max_bytes and self._vectors:
                _, dropped = self._vectors.popitem(last=False)
                self._nbytes -= dropped.nbytes + ENTRY_BYTES


def cache_state() -> CacheState:
    """Return how full the cache of this process is."""
    cache = VECTOR_CACHE.get()
    return CacheState("vectors of events", len(cache), cache.nbytes, CACHE_BYTES)


VECTOR_CACHE = PerProcess(VectorCache)
list_cache(cache_state)
