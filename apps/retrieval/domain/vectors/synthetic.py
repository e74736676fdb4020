"""Synthetic vectors for measurements: clustered as those of texts are, the same for the same seed."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from apps.retrieval.domain.vectors.cosines import Vectors

# So many rows share a cluster, up to this many clusters.
CLUSTER_ROWS = 50
MAX_CLUSTERS = 4_000
# Embeddings of texts fill a small part of their space; noise in all of it keeps vectors from lying in this part alone.
SUBSPACE = 64
_SPREAD = 0.5
_NOISE = 0.05


@dataclass(frozen=True, eq=False)
class ClusteredVectors:
    """Unit vectors, and the cluster of each. vectors: of shape (rows, dimension). clusters: of shape (rows,)."""

    vectors: Vectors
    clusters: npt.NDArray[np.int64]


class Clusters:
    """A world of clusters in `dimension` numbers, from which rows and queries are drawn alike."""

    def __init__(self, count: int, dimension: int, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._plane = self._normal(min(SUBSPACE, dimension), dimension)
        self._centres = self._normal(count, len(self._plane))

    @classmethod
    def for_rows(cls, rows: int, dimension: int, seed: int) -> "Clusters":
        """Return as many clusters as suit `rows` rows."""
        return cls(min(max(1, rows // CLUSTER_ROWS), MAX_CLUSTERS), dimension, seed)

    def draw(self, count: int) -> ClusteredVectors:
        """Return the next `count` vectors, each of any cluster."""
        clusters = self._random.integers(0, len(self._centres), count)
        points = self._centres[clusters] + np.float32(_SPREAD) * self._normal(count, len(self._plane))
        vectors = points @ self._plane
        scale = np.linalg.norm(vectors, axis=1, keepdims=True) / np.sqrt(vectors.shape[1])
        vectors += np.float32(_NOISE) * scale * self._normal(*vectors.shape)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return ClusteredVectors(vectors, clusters)

    def _normal(self, *shape: int) -> Vectors:
        return self._random.standard_normal(shape, dtype=np.float32)
