"""The index of one user in the memory of a process."""

import threading
from collections.abc import Sequence

from apps.retrieval.domain.planner import GraphNeed, graph_need
from apps.retrieval.domain.rows import IndexRow, RowStore
from apps.retrieval.domain.vectors.scale import PLAIN_SCALE, Scale
from apps.semantic.index.changes import CODED


class CachedIndex:
    """The active memories of a user in one embedding space, and the lock for changing or reading them.

    rows: what searches rank. purged_at: the version at which rows were last removed for good, 0 for never.
    nbytes: its size as of the last refresh.
    """

    def __init__(self, dimension: int, scale: Scale = PLAIN_SCALE) -> None:
        self.lock = threading.RLock()
        self._dimension, self._scale = dimension, scale
        self.purged_at, self.has_new_purge = 0, False
        self.reset()

    def reset(self) -> None:
        """Forget all rows, so that the next refresh loads them."""
        self.rows = RowStore(self._dimension, CODED, self._scale)
        self.is_current = False  # whether the database had nothing new at the last comparison
        self.has_changed = False
        self.nbytes = self.rows.nbytes

    def apply(self, rows: Sequence[IndexRow]) -> None:
        """Apply changed rows. A failure midway leaves nothing behind that could be read."""
        try:
            self.rows.apply(rows)
        except BaseException:
            self.reset()
            raise

    def note_purge(self, version: int) -> None:
        """Note that rows were removed for good at a version; 0 for never."""
        self.has_new_purge = self.has_new_purge or version > self.purged_at
        self.purged_at = version

    def set_version(self, version: int) -> None:
        """Note that all changes up to a version are applied."""
        if version != self.rows.version:
            self.rows.version = version
            self.has_changed = True
            self.measure()

    def measure(self) -> None:
        """Bring `nbytes` up to date."""
        self.nbytes = self.rows.nbytes

    @property
    def graph_need(self) -> GraphNeed:
        """Return what has to be done about the graph. The lock is held."""
        graph = self.rows.graph
        if graph is None:
            return graph_need(len(self.rows), None, 0, 0)
        return graph_need(len(self.rows), len(graph), graph.removed, graph.room)
