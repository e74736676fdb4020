"""The tables of a segment file, built from its events in their order, while writing and again while verifying."""

import json
from array import array
from dataclasses import dataclass

import numpy as np

from apps.episodic.domain.event import EventRecord, ScopeKey
from apps.episodic.domain.segment_file.format import (
    ENTRY,
    PAGE,
    PAGE_ENTRIES,
    RUN,
    Array,
    identity_prefix,
    microseconds,
    short_digest,
)


@dataclass(frozen=True)
class SegmentTables:
    """Arrays of RUN, ENTRY and PAGE. scopes: a JSON array of [user, household, persona], ascending."""

    runs: Array
    scopes: bytes
    entries: Array
    pages: Array


class TableBuilder:
    """Builds tables from every event and every end of a block, in order. first, last: microseconds."""

    def __init__(self) -> None:
        self.first = 0
        self.last = 0
        self._runs: list[tuple[int, int, int, int, int, int]] = []
        self._scopes: list[ScopeKey] = []
        self._prefixes = array("Q")
        self._block = 0
        self._line = 0  # in the block
        self._start = 0  # line of the block with which the run began
        self._times = (0, 0)  # of the run
        self._latest: tuple[ScopeKey, int, int] | None = None

    def __len__(self) -> int:
        return len(self._prefixes)

    def add(self, record: EventRecord) -> None:
        """Add the next event. Raises ValueError unless it comes after the one before it in `archive_order`."""
        moment = microseconds(record.timestamp)
        place = (record.key, moment, record.arrival)
        if self._latest is not None and place <= self._latest:
            raise ValueError("Events of a segment come in ascending archive_order.")
        self.first = min(self.first, moment) if self._prefixes else moment
        self.last = max(self.last, moment) if self._prefixes else moment
        if not self._scopes or record.key != self._scopes[-1]:
            self._end_run()
            self._scopes.append(record.key)
        self._times = (moment if self._line == self._start else self._times[0], moment)
        self._latest = place
        self._prefixes.append(identity_prefix(record.identity))
        self._line += 1

    def end_block(self) -> None:
        """Have the next event begin a new block."""
        self._end_run()
        self._block += 1
        self._line = self._start = 0

    def tables(self) -> SegmentTables:
        """Return the tables of all events up to the last end of a block."""
        prefixes = np.frombuffer(self._prefixes, dtype="<u8") if self._prefixes else np.empty(0, dtype="<u8")
        order = np.argsort(prefixes, kind="stable")
        entries = np.empty(len(prefixes), dtype=ENTRY)
        entries["prefix"], entries["line"] = prefixes[order], order
        scopes = json.dumps(self._scopes, ensure_ascii=False, separators=(",", ":")).encode()
        raw = memoryview(entries.tobytes())
        step = PAGE_ENTRIES * ENTRY.itemsize
        digests = [short_digest(raw[start : start + step]) for start in range(0, len(raw), step)]
        pages = np.empty(len(digests), dtype=PAGE)
        pages["prefix"], pages["digest"] = entries["prefix"][::PAGE_ENTRIES], digests
        return SegmentTables(np.array(self._runs, dtype=RUN), scopes, entries, pages)

    def _end_run(self) -> None:
        if self._line > self._start:
            scope = len(self._scopes) - 1
            self._runs.append((*self._times, scope, self._block, self._start, self._line - self._start))
            self._start = self._line


def decode_scopes(data: bytes) -> tuple[ScopeKey, ...]:
    """Return the scopes of a file. Raises ValueError or TypeError for bytes that are no such list."""
    return tuple(ScopeKey(*names) for names in json.loads(data))
