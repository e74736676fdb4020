"""Which runs of which segment files a window needs: the small index of the archive (DESIGN D2, D8).

Holds some 28 bytes per run beside what the files hold, and nothing per event.
"""

from dataclasses import dataclass
from datetime import datetime
from threading import Lock

import numpy as np

from apps.core.domain.scope import IDENTIFIERS, Scope
from apps.episodic.domain.event import ScopeKey
from apps.episodic.domain.segment_file.format import Array, microseconds
from apps.episodic.domain.segment_file.reader import SegmentFile

# run: its number in the file. first, last: timestamps in microseconds. is_whole: all of it is in the window.
SELECTED = np.dtype(
    [
        ("segment", np.int64),
        ("run", np.int32),
        ("count", np.int32),
        ("first", np.int64),
        ("last", np.int64),
        ("is_whole", np.bool_),
    ]
)
_ENDLESS = np.iinfo(np.int64)


@dataclass(frozen=True)
class Selection:
    """The runs of a scope that reach into a window, those that end latest first: an array of SELECTED.

    total: all archived events of the scope. outside: those in runs that do not reach into the window, so that
    total = outside + the counts of the runs.
    """

    total: int
    outside: int
    runs: Array

    @property
    def whole(self) -> Array:
        """The runs that lie in the window as a whole: every event of theirs counts, unread."""
        return np.asarray(self.runs[self.runs["is_whole"]])

    @property
    def partial(self) -> Array:
        """The runs that begin before the window or end after it: which of their events count, only reading tells."""
        return np.asarray(self.runs[~self.runs["is_whole"]])

    def by_segment(self) -> dict[int, list[int]]:
        """The numbers of all its runs, by segment, as `SegmentFile.read_runs` takes them."""
        numbers: dict[int, list[int]] = {}
        for segment, run in zip(self.runs["segment"].tolist(), self.runs["run"].tolist(), strict=True):
            numbers.setdefault(segment, []).append(run)
        return numbers


class _Scopes:
    """Numbers for scopes, and which of them match a scope that is asked for. Only grows."""

    def __init__(self) -> None:
        self._keys: list[ScopeKey] = []
        self._numbers: dict[ScopeKey, int] = {}
        self._holding: dict[str, dict[str, list[int]]] = {name: {} for name in IDENTIFIERS}

    def __len__(self) -> int:
        return len(self._keys)

    def number(self, key: ScopeKey) -> int:
        known = self._numbers.get(key)
        if known is not None:
            return known
        number = self._numbers[key] = len(self._keys)
        self._keys.append(key)
        for name in IDENTIFIERS:
            self._holding[name].setdefault(getattr(key, name), []).append(number)
        return number

    def matching(self, scope: Scope) -> list[int] | None:
        """Ascending; None for all."""
        holding = [self._holding[name].get(value, []) for name, value in scope.named().items()]
        if not holding:
            return None
        fewest = min(holding, key=len)
        return fewest if len(holding) == 1 else [number for number in fewest if self._keys[number].is_in(scope)]


@dataclass(frozen=True)
class _Part:
    """What one segment brings. scopes: the numbers of the file's scopes here."""

    file: SegmentFile
    scopes: Array


@dataclass(frozen=True)
class _Table:
    """All runs, those of one scope together: the runs of scope s are starts[s] to starts[s + 1]."""

    starts: Array
    segment: Array
    run: Array
    count: Array
    first: Array
    last: Array

    def __len__(self) -> int:
        return len(self.segment)

    @property
    def nbytes(self) -> int:
        columns = (self.starts, self.segment, self.run, self.count, self.first, self.last)
        return sum(column.nbytes for column in columns)


class ArchiveIndex:
    """The runs of many files. Any thread may ask while another adds; `copy` makes one to be changed on the side."""

    def __init__(self) -> None:
        self._parts: dict[int, _Part] = {}
        self._scopes = _Scopes()
        self._table: _Table | None = None
        self._lock = Lock()

    def add(self, segment_id: int, file: SegmentFile) -> None:
        """Takes up a file, in place of what it had for that segment."""
        keys = file.scopes
        with self._lock:
            numbers = np.array([self._scopes.number(key) for key in keys], dtype=np.int32)
            self._parts[segment_id] = _Part(file, numbers)
            self._table = None

    def remove(self, segment_id: int) -> None:
        """Forgets a segment; without effect when it is not there."""
        with self._lock:
            if self._parts.pop(segment_id, None) is not None:
                self._table = None

    def copy(self) -> "ArchiveIndex":
        """Another index with the same files. Forgets scopes that no file has any more when they are the most."""
        other = ArchiveIndex()
        with self._lock:
            parts = dict(self._parts)
            other._table = self._table
            other._scopes = self._scopes
            other._lock = self._lock
            used = len(np.unique(np.concatenate([part.scopes for part in parts.values()]))) if parts else 0
        if 2 * used < len(self._scopes):
            return _rebuilt(parts)
        other._parts = parts
        return other

    @property
    def segment_ids(self) -> frozenset[int]:
        return frozenset(self._parts)

    def file(self, segment_id: int) -> SegmentFile:
        """The file of a segment. KeyError when it is not there."""
        return self._parts[segment_id].file

    @property
    def event_count(self) -> int:
        return sum(part.file.summary.event_count for part in list(self._parts.values()))

    @property
    def last_timestamp(self) -> datetime | None:
        """Of the latest archived event."""
        return max((part.file.summary.last_timestamp for part in list(self._parts.values())), default=None)

    @property
    def nbytes(self) -> int:
        """Memory of the index and of the files' tables, without the names of scopes."""
        parts = list(self._parts.values())
        return self._current().nbytes + sum(part.file.nbytes + part.scopes.nbytes for part in parts)

    def select(self, scope: Scope, start: datetime | None, end: datetime | None) -> Selection:
        """The runs of the scope with events from start to end, both included; None for no limit. Reads no file."""
        table = self._current()
        rows = self._rows(table, scope)
        first, last = table.first[rows], table.last[rows]
        begin = _ENDLESS.min if start is None else microseconds(start)
        finish = _ENDLESS.max if end is None else microseconds(end)
        reaches = (first <= finish) & (last >= begin)
        counts = table.count[rows]
        runs = np.empty(int(np.count_nonzero(reaches)), dtype=SELECTED)
        runs["segment"], runs["run"] = table.segment[rows][reaches], table.run[rows][reaches]
        runs["first"], runs["last"], runs["count"] = first[reaches], last[reaches], counts[reaches]
        runs["is_whole"] = (runs["first"] >= begin) & (runs["last"] <= finish)
        total = int(counts.sum(dtype=np.int64))
        outside = total - int(runs["count"].sum(dtype=np.int64))
        return Selection(total, outside, runs[np.argsort(-runs["last"], kind="stable")])

    def _rows(self, table: _Table, scope: Scope) -> Array | slice:
        numbers = self._scopes.matching(scope)
        if numbers is None:
            return slice(None)
        # A scope that was numbered after the table was made has no runs in it.
        spans = [
            (table.starts[number], table.starts[number + 1]) for number in numbers if number < len(table.starts) - 1
        ]
        if len(spans) == 1:
            return slice(*spans[0])
        return np.concatenate([np.arange(*span) for span in spans]) if spans else slice(0)

    def _current(self) -> _Table:
        table = self._table
        if table is None:
            with self._lock:
                table = self._table if self._table is not None else _table_of(self._parts, len(self._scopes))
                self._table = table
        return table


def _rebuilt(parts: dict[int, _Part]) -> ArchiveIndex:
    index = ArchiveIndex()
    for segment_id, part in parts.items():
        index.add(segment_id, part.file)
    return index


def _table_of(parts: dict[int, _Part], scope_count: int) -> _Table:
    if not parts:
        nothing = np.empty(0, dtype=np.int64)
        return _Table(np.zeros(scope_count + 1, dtype=np.int64), nothing, nothing, nothing, nothing, nothing)
    runs = [part.file.runs for part in parts.values()]
    scopes = np.concatenate([part.scopes[part.file.runs["scope"]] for part in parts.values()])
    order = np.argsort(scopes, kind="stable")
    counts = np.bincount(scopes, minlength=scope_count)
    return _Table(
        starts=np.concatenate([[0], np.cumsum(counts)]),
        segment=np.repeat(np.fromiter(parts, dtype=np.int64), [len(its) for its in runs])[order],
        run=np.concatenate([np.arange(len(its), dtype=np.int32) for its in runs])[order],
        count=np.concatenate([its["count"] for its in runs])[order],
        first=np.concatenate([its["first"] for its in runs])[order],
        last=np.concatenate([its["last"] for its in runs])[order],
    )
