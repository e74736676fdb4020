"""Reading segment files (`format`). Everything that is returned has been compared with a checksum."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from uuid import UUID

import numpy as np

from apps.episodic.domain.event import EventRecord, ScopeKey
from apps.episodic.domain.segment_file.access import decode_lines, opened, read_at, read_block, read_lines, size_of
from apps.episodic.domain.segment_file.contents import SegmentContents, read_contents
from apps.episodic.domain.segment_file.format import (
    ENTRY,
    PAGE_ENTRIES,
    Array,
    Damage,
    SegmentDamagedError,
    SegmentFacts,
    identity_prefix,
    microseconds,
    short_digest,
)
from apps.episodic.domain.segment_file.tables import TableBuilder, decode_scopes

CHUNK = 1 << 20


@dataclass(frozen=True)
class EventColumns:
    """Columns in the order of lines. times: microseconds since 1970. types: places in `names`."""

    times: Array
    types: Array
    names: tuple[str, ...]


class SegmentFile:
    """A file whose footer and tables have been read. Keeps no descriptor open, and never changes: any thread may read.

    summary: its figures, without the checksum of the whole. runs: array of `format.RUN`.
    Everything that reads raises SegmentDamagedError when the file is no longer what it was.
    """

    def __init__(self, path: Path, contents: SegmentContents) -> None:
        self.path = path
        self.segment: UUID = contents.footer.segment
        self.summary: SegmentFacts = contents.facts
        self.runs: Array = contents.runs
        self._contents = contents

    @classmethod
    def open(cls, path: Path, segment: UUID | None = None) -> "SegmentFile":
        """Read header, footer and tables. segment: whose file it must be.

        Raises SegmentDamagedError, with `mismatch` for the file of another segment.
        """
        file = cls(path, read_contents(path))
        if segment is not None and file.segment != segment:
            raise SegmentDamagedError(Damage.MISMATCH, f"It is the file of segment {file.segment}.")
        return file

    @property
    def scopes(self) -> tuple[ScopeKey, ...]:
        """Return the scopes of its events, ascending; `runs["scope"]` counts in it. Decoded from bytes each time."""
        return decode_scopes(self._contents.scopes)

    @property
    def nbytes(self) -> int:
        """Return about how much memory it takes."""
        contents = self._contents
        return contents.blocks.nbytes + contents.runs.nbytes + contents.pages.nbytes + len(contents.scopes)

    @property
    def raw_bytes(self) -> int:
        """Return the size of its events as NDJSON, before compression."""
        return int(self._contents.blocks["raw_size"].sum(dtype=np.int64))

    def bytes_of(self, runs: Array) -> Array:
        """Return about the size of runs as NDJSON, by their numbers: as if the lines of a block were of one length."""
        its = self.runs[runs]
        blocks = self._contents.blocks[its["block"]]
        return np.asarray(blocks["raw_size"].astype(np.int64) * its["count"] // blocks["lines"])

    def read_runs(self, runs: Sequence[int]) -> list[EventRecord]:
        """Return the events of runs, by their numbers, in the order of `runs`. Each block is read once."""
        wanted: dict[int, list[int]] = defaultdict(list)
        for run in runs:
            wanted[int(self.runs["block"][run])].append(run)
        found: dict[int, list[EventRecord]] = {}
        with opened(self.path) as descriptor:
            for block in sorted(wanted):
                lines = read_lines(descriptor, self._contents.blocks, block)
                for run in wanted[block]:
                    start, count = int(self.runs["start"][run]), int(self.runs["count"][run])
                    found[run] = decode_lines(lines[start : start + count], block)
        return [record for run in runs for record in found[run]]

    def columns(self) -> EventColumns:
        """Return the times and types of all events. Takes a third of the time of reading them."""
        times: list[int] = []
        types: list[int] = []
        numbers: dict[str, int] = {}
        with opened(self.path) as descriptor:
            for block in range(len(self._contents.blocks)):
                try:
                    for line in read_lines(descriptor, self._contents.blocks, block):
                        document = _decode(line.decode())
                        times.append(microseconds(datetime.fromisoformat(document["timestamp"])))
                        types.append(numbers.setdefault(document["event_type"], len(numbers)))
                except (ValueError, KeyError, TypeError) as error:
                    raise SegmentDamagedError(Damage.MISMATCH, f"A line of block {block} is no event.") from error
        return EventColumns(np.array(times, dtype=np.int64), np.array(types, dtype=np.int32), tuple(numbers))

    def lines_of(self, runs: Array) -> Array:
        """Return the numbers of the lines of runs, by the numbers of the runs, counted from the start of the file."""
        its = self.runs[runs]
        starts = self._lines_before[its["block"]] + its["start"]
        counts = its["count"].astype(np.int64)
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.asarray(np.repeat(starts, counts) + within)

    def find_id(self, event: UUID, runs: Sequence[int]) -> EventRecord | None:
        """Return the event of an id, if one of these runs holds it.

        No table knows ids, so blocks are searched as bytes, which takes a fraction of decoding their lines.
        """
        wanted = str(event).encode()
        its = self.runs[np.asarray(runs, dtype=np.int64)]
        with opened(self.path) as descriptor:
            for block in np.unique(its["block"]).tolist():
                raw = read_block(descriptor, self._contents.blocks, block)
                if wanted not in raw:
                    continue
                lines = raw.split(b"\n")
                for start, count in its[its["block"] == block][["start", "count"]].tolist():
                    own = [line for line in lines[start : start + count] if wanted in line]
                    for record in decode_lines(own, block):
                        if record.uuid == event:
                            return record
        return None

    def events(self) -> Iterator[EventRecord]:
        """Yield all events in `archive_order`, with one block in memory."""
        with opened(self.path) as descriptor:
            for block in range(len(self._contents.blocks)):
                yield from decode_lines(read_lines(descriptor, self._contents.blocks, block), block)

    def digest(self) -> str:
        """Return the sha256 of the whole file, in hex."""
        checksum = hashlib.sha256()
        with opened(self.path) as descriptor:
            size = size_of(descriptor)
            for offset in range(0, size, CHUNK):
                checksum.update(read_at(descriptor, offset, min(CHUNK, size - offset)))
        return checksum.hexdigest()

    def verify(self, sha256: str) -> None:
        """Read everything, and build the tables again to compare them. sha256: the catalogue's of the file, in hex."""
        if self.digest() != sha256:
            raise SegmentDamagedError(Damage.CHECKSUM, "The file is not the one that was sealed.")
        builder = TableBuilder()
        with opened(self.path) as descriptor:
            for block in range(len(self._contents.blocks)):
                records = decode_lines(read_lines(descriptor, self._contents.blocks, block), block)
                try:
                    for record in records:
                        builder.add(record)
                except ValueError as error:
                    raise SegmentDamagedError(Damage.MISMATCH, "Its events are not in order.") from error
                builder.end_block()
            entries = read_at(descriptor, *self._contents.footer.identities)
        tables = builder.tables()
        footer = self._contents.footer
        same = (
            np.array_equal(tables.runs, self.runs)
            and tables.scopes == self._contents.scopes
            and np.array_equal(tables.pages, self._contents.pages)
            and tables.entries.tobytes() == entries
            and (builder.first, builder.last) == (footer.first, footer.last)
        )
        if not same:
            raise SegmentDamagedError(Damage.MISMATCH, "Its tables do not say what its events say.")

    def find(self, identities: Sequence[UUID]) -> dict[UUID, EventRecord]:
        """Return the events with these identities; those that the file does not hold are left out."""
        if not identities:
            return {}
        with opened(self.path) as descriptor:
            candidates = self._candidate_lines(descriptor, identities)
            return self._matching_events(descriptor, candidates) if candidates else {}

    @cached_property
    def _lines_before(self) -> Array:
        """Return how many lines come before each block."""
        lines = self._contents.blocks["lines"]
        return np.asarray(np.cumsum(lines, dtype=np.int64) - lines)

    def _candidate_lines(self, descriptor: int, identities: Sequence[UUID]) -> dict[int, list[UUID]]:
        """Return the identities that may be in a line, by the number of the line: those whose prefixes are there."""
        prefixes = np.array([identity_prefix(identity) for identity in identities], dtype=np.uint64)
        # The pages in which these prefixes would be: one each, or more where a page begins with it.
        firsts = self._contents.pages["prefix"]
        starts = np.maximum(np.searchsorted(firsts, prefixes, "left") - 1, 0)
        ends = np.searchsorted(firsts, prefixes, "right")
        pages = {page for start, end in zip(starts, ends, strict=True) for page in range(start, end)}
        entries = self._read_pages(descriptor, sorted(pages))
        lefts = np.searchsorted(entries["prefix"], prefixes, "left")
        rights = np.searchsorted(entries["prefix"], prefixes, "right")
        candidates: dict[int, list[UUID]] = defaultdict(list)
        for number in np.flatnonzero(lefts < rights).tolist():
            for line in entries["line"][lefts[number] : rights[number]]:
                candidates[int(line)].append(identities[number])
        return candidates

    def _read_pages(self, descriptor: int, pages: list[int]) -> Array:
        """Return the entries of ascending pages. Consecutive pages are read at once."""
        section, step = self._contents.footer.identities, PAGE_ENTRIES * ENTRY.itemsize
        parts: list[memoryview] = []
        for first, last in consecutive_ranges(pages):
            end = min((last + 1) * step, section.size)
            content = memoryview(read_at(descriptor, section.offset + first * step, end - first * step))
            parts += [content[start : start + step] for start in range(0, len(content), step)]
        for page, part in zip(pages, parts, strict=True):
            if short_digest(part) != int(self._contents.pages["digest"][page]):
                raise SegmentDamagedError(Damage.CHECKSUM, f"Page {page} of its identities is not as it was written.")
        return np.frombuffer(b"".join(parts), dtype=ENTRY)

    def _matching_events(self, descriptor: int, candidates: dict[int, list[UUID]]) -> dict[UUID, EventRecord]:
        """Return the events of candidate lines whose whole identity matches."""
        found: dict[UUID, EventRecord] = {}
        lines = sorted(candidates)
        blocks = np.searchsorted(self._lines_before, lines, "right") - 1
        for block in np.unique(blocks):
            read = read_lines(descriptor, self._contents.blocks, int(block))
            for line in (line for line, its in zip(lines, blocks, strict=True) if its == block):
                in_block = line - int(self._lines_before[block])
                for record in decode_lines(read[in_block : in_block + 1], int(block)):
                    if record.identity in candidates[line]:
                        found[record.identity] = record
        return found


def consecutive_ranges(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of each range of consecutive numbers; `numbers` ascend."""
    start = 0
    for place in range(1, len(numbers) + 1):
        if place == len(numbers) or numbers[place] != numbers[place - 1] + 1:
            yield numbers[start], numbers[place - 1]
            start = place


_decode = json.JSONDecoder().decode
# Of an event: eight bytes of its time, four of its type.
BYTES_PER_EVENT = 12
