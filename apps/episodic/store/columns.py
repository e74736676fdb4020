"""The times and types of archived events that this process counted last, so that a histogram reads no file twice."""

import threading
from collections import OrderedDict
from pathlib import Path

from apps.core.domain.caches import CacheState, list_cache
from apps.core.per_process import PerProcess
from apps.episodic.domain.segment_file.reader import BYTES_PER_EVENT, EventColumns, SegmentFile

# Of some five million events.
CACHE_BYTES = 64 * 1024 * 1024


class ColumnCache:
    """The columns of the files used last, as many as fit into a size in bytes. A file of one name never changes."""

    def __init__(self, max_bytes: int = CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._columns: OrderedDict[Path, EventColumns] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return how many files have theirs here."""
        return len(self._columns)

    @property
    def nbytes(self) -> int:
        """Return about the size of what is cached."""
        return sum(len(one.times) for one in list(self._columns.values())) * BYTES_PER_EVENT

    def known(self, file: SegmentFile) -> EventColumns | None:
        """Return the columns of a file if they are cached."""
        with self._lock:
            if file.path in self._columns:
                self._columns.move_to_end(file.path)
            return self._columns.get(file.path)

    def read(self, file: SegmentFile) -> EventColumns:
        """Return the columns of a file, and keep them. Raises SegmentDamagedError."""
        known = self.known(file)
        if known is not None:
            return known
        made = file.columns()
        with self._lock:
            self._columns[file.path] = made
        while len(self._columns) > 1 and self.nbytes > self._max_bytes:
            with self._lock:
                self._columns.popitem(last=False)
        return made


def cache_state() -> CacheState:
    """Return how full the cache of this process is."""
    cache = COLUMN_CACHE.get()
    return CacheState("times of archived events", len(cache), cache.nbytes, CACHE_BYTES)


COLUMN_CACHE = PerProcess(ColumnCache)
list_cache(cache_state)
