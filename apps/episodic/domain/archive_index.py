"""Which runs of which segment files a window needs: the small index of the archive (DESIGN D2, D8).

Holds some 28 bytes per run beside what the files hold, and nothing per event.
"""

from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from threading import Lock

import numpy as np

from apps.core.domain.scope import IDENTIFIERS, Reach, Scope
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
INT64 = np.iinfo(np.int64)


@dataclass(frozen=True)
class Selection:
    """The runs of some scopes that reach into a window, those that end latest first: an array of SELECTED.

    total: all archived events of those scopes. outside: those in runs that do not reach into the window, so that
    total = outside + the counts of the runs.
    """

    total: int
    outside: int
    runs: Array

    @property
    def whole(self) -> Array:
        """Return the runs that lie in the window as a whole: each of their events counts, unread."""
        return np.asarray(self.runs[self.runs["is_whole"]])

    @property
    def partial(self) -> Array:
        """Return the runs that begin before the window or end after it: they have to be read to count their events."""
        return np.asarray(self.runs[~self.runs["is_whole"]])

    def by_segment(self) -> dict[int, list[int]]:
        """Return the numbers of all its runs, by segment, as `SegmentFile.read_runs` takes them."""
        numbers: dict[int, list[int]] = {}
        for segment, run in zip(self.runs["segment"].tolist(), self.runs["run"].tolist(), strict=True):
            numbers.setdefault(segment, []).append(run)
        return numbers


class ScopeNumbers:
    """Numbers for scopes, and which of them match a requested scope. Only grows."""

    def __init__(self) -> None:
        self._keys: list[ScopeKey] = []
        self._numbers: dict[ScopeKey, int] = {}
        self._with_identifier: dict[str, dict[str, list[int]]] = {name: {} for name in IDENTIFIERS}

    def __len__(self) -> int:
        return len(self._keys)

    def number(self, key: ScopeKey) -> int:
        """Return the number of a scope; a new scope gets the next one."""
        known = self._numbers.get(key)
        if known is not None:
            return known
        number = self._numbers[key] = len(self._keys)
        self._keys.append(key)
        for name in IDENTIFIERS:
            self._with_identifier[name].setdefault(getattr(key, name), []).append(number)
        return number

    def key(self, number: int) -> ScopeKey:
        """Return the scope of a number."""
        return self._keys[number]

    def matching(self, scope: Scope) -> list[int] | None:
        """Return the numbers of matching scopes, ascending; None for all."""
        candidates = [self._with_identifier[name].get(value, []) for name, value in scope.named().items()]
        if scope.is_everything:
            return None
        if len(candidates) == 1 and not scope.without:
            return candidates[0]
        fewest = min(candidates, key=len) if candidates else range(len(self._keys))
        return [number for number in fewest if self._keys[number].is_in(scope)]

    def covered(self, reach: Reach) -> list[int] | None:
        """Return the numbers of the scopes that a read covers, ascending; None for all."""
        numbers: list[int] | None = [] if reach.scope is None else self.matching(reach.scope)
        if numbers is None or not reach.owners:
            return numbers
        further = (self._with_identifier["user_id"].get(owner, []) for owner in reach.owners)
        return sorted({*numbers, *chain.from_iterable(further)})


@dataclass(frozen=True)
class IndexedFile:
    """The file of one segment. scopes: the numbers of the file's scopes in the index."""

    file: SegmentFile
    scopes: Array


@dataclass(frozen=True)
class RunTable:
    """All runs, those of one scope together: the runs of scope s are starts[s] to starts[s + 1]."""

    starts: Array
    segment: Array
    run: Array
    count: Array
    first: Array
    last: Array

    @classmethod
    def build(cls, parts: dict[int, IndexedFile], scope_count: int) -> "RunTable":
        """Create the table of files by segment."""
        if not parts:
            nothing = np.empty(0, dtype=np.int64)
            return cls(np.zeros(scope_count + 1, dtype=np.int64), nothing, nothing, nothing, nothing, nothing)
        runs = [part.file.runs for part in parts.values()]
        scopes = np.concatenate([part.scopes[part.file.runs["scope"]] for part in parts.values()])
        order = np.argsort(scopes, kind="stable")
        counts = np.bincount(scopes, minlength=scope_count)
        return cls(
            starts=np.concatenate([[0], np.cumsum(counts)]),
            segment=np.repeat(np.fromiter(parts, dtype=np.int64), [len(its) for its in runs])[order],
            run=np.concatenate([np.arange(len(its), dtype=np.int32) for its in runs])[order],
            count=np.concatenate([its["count"] for its in runs])[order],
            first=np.concatenate([its["first"] for its in runs])[order],
            last=np.concatenate([its["last"] for its in runs])[order],
        )

    @property
    def nbytes(self) -> int:
        """Return how much memory it takes."""
        columns = (self.starts, self.segment, self.run, self.count, self.first, self.last)
        return sum(column.nbytes for column in columns)

    def rows(self, numbers: list[int] | None) -> Array | slice:
        """Return the rows of scopes by their numbers; None for all."""
        if numbers is None:
            return slice(None)
        # A scope that was numbered after the table was built has no runs in it.
        spans = [(self.starts[number], self.starts[number + 1]) for number in numbers if number < len(self.starts) - 1]
        if len(spans) == 1:
            return slice(*spans[0])
        return np.concatenate([np.arange(*span) for span in spans]) if spans else slice(0)


class ArchiveIndex:
    """The runs of many files. Any thread may read while another adds; `copy` creates one to be changed separately."""

    def __init__(self) -> None:
        self._parts: dict[int, IndexedFile] = {}
        self._scopes = ScopeNumbers()
        self._table: RunTable | None = None
        self._lock = Lock()

    def add(self, segment_id: int, file: SegmentFile) -> None:
        """Add a file, in place of the segment's former one."""
        keys = file.scopes
        with self._lock:
            numbers = np.array([self._scopes.number(key) for key in keys], dtype=np.int32)
            self._parts[segment_id] = IndexedFile(file, numbers)
            self._table = None

    def remove(self, segment_id: int) -> None:
        """Remove a segment; without effect when it is not there."""
        with self._lock:
            if self._parts.pop(segment_id, None) is not None:
                self._table = None

    def copy(self) -> "ArchiveIndex":
        """Return another index with the same files. Drops scopes that no file has any more when they are the most."""
        other = ArchiveIndex()
        with self._lock:
            parts = dict(self._parts)
            used = len(np.unique(np.concatenate([part.scopes for part in parts.values()]))) if parts else 0
            if 2 * used >= len(self._scopes):
                other._parts, other._table = parts, self._table
                other._scopes, other._lock = self._scopes, self._lock
                return other
        for segment_id, part in parts.items():
            other.add(segment_id, part.file)
        return other

    def rebuilt(self) -> "ArchiveIndex":
        """Return another index with the same files, and with no scopes but theirs."""
        other = ArchiveIndex()
        for segment_id, part in list(self._parts.items()):
            other.add(segment_id, part.file)
        return other

    @property
    def segment_ids(self) -> frozenset[int]:
        """Return the segments whose files it has."""
        return frozenset(self._parts)

    def file(self, segment_id: int) -> SegmentFile:
        """Return the file of a segment. Raises KeyError when it is not there."""
        return self._parts[segment_id].file

    @property
    def event_count(self) -> int:
        """Return how many events its files hold."""
        return sum(part.file.summary.event_count for part in list(self._parts.values()))

    @property
    def last_timestamp(self) -> datetime | None:
        """Return the time of the latest archived event."""
        return max((part.file.summary.last_timestamp for part in list(self._parts.values())), default=None)

    @property
    def nbytes(self) -> int:
        """Return how much memory the index and the files' tables take, without the names of scopes."""
        parts = list(self._parts.values())
        return self._current_table().nbytes + sum(part.file.nbytes + part.scopes.nbytes for part in parts)

    def select(self, reach: Reach, start: datetime | None, end: datetime | None) -> Selection:
        """Return the runs that a read covers with events from start to end, both included; None: no limit.

        Reads no file.
        """
        table = self._current_table()
        rows = table.rows(self._scopes.covered(reach))
        first, last = table.first[rows], table.last[rows]
        begin = INT64.min if start is None else microseconds(start)
        finish = INT64.max if end is None else microseconds(end)
        reaches = (first <= finish) & (last >= begin)
        counts = table.count[rows]
        runs = np.empty(int(np.count_nonzero(reaches)), dtype=SELECTED)
        runs["segment"], runs["run"] = table.segment[rows][reaches], table.run[rows][reaches]
        runs["first"], runs["last"], runs["count"] = first[reaches], last[reaches], counts[reaches]
        runs["is_whole"] = (runs["first"] >= begin) & (runs["last"] <= finish)
        total = int(counts.sum(dtype=np.int64))
        outside = total - int(runs["count"].sum(dtype=np.int64))
        return Selection(total, outside, runs[np.argsort(-runs["last"], kind="stable")])

    def scope_counts(self, scope: Scope) -> list[tuple[ScopeKey, int]]:
        """Return the exact scopes inside a scope that have events, and how many each has. Reads no file."""
        table, numbers = self._current_table(), self._scopes.matching(scope)
        known = range(len(table.starts) - 1)
        sums = np.concatenate([[0], np.cumsum(table.count, dtype=np.int64)])
        totals = (sums[table.starts[1:]] - sums[table.starts[:-1]]).tolist()
        chosen = known if numbers is None else [number for number in numbers if number in known]
        return [(self._scopes.key(number), totals[number]) for number in chosen if totals[number]]

    def _current_table(self) -> RunTable:
        table = self._table
        if table is None:
            with self._lock:
                table = self._table
                if table is None:
                    table = self._table = RunTable.build(self._parts, len(self._scopes))
        return table
