"""The tables of a segment file, made from its events in their order: while writing, and again while verifying."""

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
class Tables:
    """Arrays of RUN, ENTRY and PAGE. scopes: a JSON array of [user, household, persona], ascending."""

    runs: Array
    scopes: bytes
    entries: Array
    pages: Array


class TableBuilder:
    """Is told of every event and of every end of a block. first, last: microseconds."""

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
        """The next event. ValueError unless it comes after the one before it in `archive_order`."""
        moment = microseconds(record.timestamp)
        place = (record.key, moment, record.arrival)
        if self._latest is not None and place <= self._latest:
            raise ValueError("Events of a segment come in ascending archive_order.")
        self.first = min(self.first, moment) if self._prefixes else moment
        self.last = max(self.last, moment) if self._prefixes else moment
        self._continue_run(record.key, moment)
        self._latest = place
        self._prefixes.append(identity_prefix(record.identity))
        self._line += 1

    def end_block(self) -> None:
        """The next event begins a new block."""
        self._end_run()
        self._block += 1
        self._line = self._start = 0

    def tables(self) -> Tables:
        """The tables of all events up to the last end of a block."""
        prefixes = np.frombuffer(self._prefixes, dtype="<u8") if self._prefixes else np.empty(0, dtype="<u8")
        order = np.argsort(prefixes, kind="stable")
        entries = np.empty(len(prefixes), dtype=ENTRY)
        entries["prefix"], entries["line"] = prefixes[order], order
        return Tables(np.array(self._runs, dtype=RUN), _encode_scopes(self._scopes), entries, pages_of(entries))

    def _continue_run(self, key: ScopeKey, moment: int) -> None:
        is_new = not self._scopes or key != self._scopes[-1]
        if is_new:
            self._end_run()
            self._scopes.append(key)
        self._times = (moment if self._line == self._start else self._times[0], moment)

    def _end_run(self) -> None:
        if self._line > self._start:
            scope = len(self._scopes) - 1
            self._runs.append((*self._times, scope, self._block, self._start, self._line - self._start))
            self._start = self._line


def pages_of(entries: Array) -> Array:
    """The PAGE array of sorted entries."""
    raw = memoryview(entries.tobytes())
    step = PAGE_ENTRIES * ENTRY.itemsize
    digests = [short_digest(raw[start : start + step]) for start in range(0, len(raw), step)]
    pages = np.empty(len(digests), dtype=PAGE)
    pages["prefix"], pages["digest"] = entries["prefix"][::PAGE_ENTRIES], digests
    return pages


def _encode_scopes(scopes: list[ScopeKey]) -> bytes:
    return json.dumps(scopes, ensure_ascii=False, separators=(",", ":")).encode()


def decode_scopes(data: bytes) -> tuple[ScopeKey, ...]:
    """The scopes of a file. ValueError or TypeError for bytes that are no such list."""
    return tuple(ScopeKey(*names) for names in json.loads(data))
