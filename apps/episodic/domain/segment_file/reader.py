"""Reading segment files (`format`). Everything that is returned has been compared with a checksum.

What is still good in a damaged file is salvaged by the data alone, since the tables may be what is damaged: frames are
looked for, and one is accepted only if its own checksum holds, its lines are events and they continue in order.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from uuid import UUID

import numpy as np
import zstandard

from apps.episodic.domain.event import EventRecord, ScopeKey
from apps.episodic.domain.segment_file.access import (
    OpenFile,
    Place,
    decode_lines,
    decompress,
    opened,
    read_at,
    read_block,
    read_lines,
)
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
_decode = json.JSONDecoder().decode
# Of an event: eight bytes of its time, four of its type.
BYTES_PER_EVENT = 12
MAGIC = b"\x28\xb5\x2f\xfd"
PAGE_BYTES = 4_096  # what a medium fails to read is some of these
MAX_FRAME_HEADER = 18
BLOCK_HEADER = 3
BLOCK_CONTENT = 128 * 1024  # at most, of a block of zstandard
RUN_LENGTH, RESERVED = 1, 3  # types of such blocks
CHECKSUM = 4


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

    def __init__(self, place: Place, contents: SegmentContents) -> None:
        self.place = place
        self.segment: UUID = contents.footer.segment
        self.summary: SegmentFacts = contents.facts
        self.runs: Array = contents.runs
        self._contents = contents

    @classmethod
    def open(cls, place: Place, segment: UUID | None = None) -> "SegmentFile":
        """Read header, footer and tables. segment: whose file it must be.

        Raises SegmentDamagedError, with `mismatch` for the file of another segment.
        """
        file = cls(place, read_contents(place))
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
        with opened(self.place) as reading:
            for block in sorted(wanted):
                lines = read_lines(reading, self._contents.blocks, block)
                for run in wanted[block]:
                    start, count = int(self.runs["start"][run]), int(self.runs["count"][run])
                    found[run] = decode_lines(lines[start : start + count], block)
        return [record for run in runs for record in found[run]]

    def columns(self) -> EventColumns:
        """Return the times and types of all events. Takes a third of the time of reading them."""
        times: list[int] = []
        types: list[int] = []
        numbers: dict[str, int] = {}
        with opened(self.place) as reading:
            for block in range(len(self._contents.blocks)):
                try:
                    for line in read_lines(reading, self._contents.blocks, block):
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
        with opened(self.place) as reading:
            for block in np.unique(its["block"]).tolist():
                raw = read_block(reading, self._contents.blocks, block)
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
        with opened(self.place) as reading:
            for block in range(len(self._contents.blocks)):
                yield from decode_lines(read_lines(reading, self._contents.blocks, block), block)

    def digest(self) -> str:
        """Return the sha256 of the whole file, in hex."""
        checksum = hashlib.sha256()
        with opened(self.place) as reading:
            size = reading.size
            for offset in range(0, size, CHUNK):
                checksum.update(read_at(reading, offset, min(CHUNK, size - offset)))
        return checksum.hexdigest()

    def verify(self, sha256: str) -> None:
        """Read everything, and build the tables again to compare them. sha256: the catalogue's of the file, in hex."""
        if self.digest() != sha256:
            raise SegmentDamagedError(Damage.CHECKSUM, "The file is not the one that was sealed.")
        builder = TableBuilder()
        with opened(self.place) as reading:
            for block in range(len(self._contents.blocks)):
                records = decode_lines(read_lines(reading, self._contents.blocks, block), block)
                try:
                    for record in records:
                        builder.add(record)
                except ValueError as error:
                    raise SegmentDamagedError(Damage.MISMATCH, "Its events are not in order.") from error
                builder.end_block()
            entries = read_at(reading, *self._contents.footer.identities)
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
        with opened(self.place) as reading:
            candidates = self._candidate_lines(reading, identities)
            return self._matching_events(reading, candidates) if candidates else {}

    @cached_property
    def _lines_before(self) -> Array:
        """Return how many lines come before each block."""
        lines = self._contents.blocks["lines"]
        return np.asarray(np.cumsum(lines, dtype=np.int64) - lines)

    def _candidate_lines(self, reading: OpenFile, identities: Sequence[UUID]) -> dict[int, list[UUID]]:
        """Return the identities that may be in a line, by the number of the line: those whose prefixes are there."""
        prefixes = np.array([identity_prefix(identity) for identity in identities], dtype=np.uint64)
        # The pages in which these prefixes would be: one each, or more where a page begins with it.
        firsts = self._contents.pages["prefix"]
        starts = np.maximum(np.searchsorted(firsts, prefixes, "left") - 1, 0)
        ends = np.searchsorted(firsts, prefixes, "right")
        pages = {page for start, end in zip(starts, ends, strict=True) for page in range(start, end)}
        entries = self._read_pages(reading, sorted(pages))
        lefts = np.searchsorted(entries["prefix"], prefixes, "left")
        rights = np.searchsorted(entries["prefix"], prefixes, "right")
        candidates: dict[int, list[UUID]] = defaultdict(list)
        for number in np.flatnonzero(lefts < rights).tolist():
            for line in entries["line"][lefts[number] : rights[number]]:
                candidates[int(line)].append(identities[number])
        return candidates

    def _read_pages(self, reading: OpenFile, pages: list[int]) -> Array:
        """Return the entries of ascending pages. Consecutive pages are read at once."""
        section, step = self._contents.footer.identities, PAGE_ENTRIES * ENTRY.itemsize
        parts: list[memoryview] = []
        for first, last in consecutive_ranges(pages):
            end = min((last + 1) * step, section.size)
            content = memoryview(read_at(reading, section.offset + first * step, end - first * step))
            parts += [content[start : start + step] for start in range(0, len(content), step)]
        for page, part in zip(pages, parts, strict=True):
            if short_digest(part) != int(self._contents.pages["digest"][page]):
                raise SegmentDamagedError(Damage.CHECKSUM, f"Page {page} of its identities is not as it was written.")
        return np.frombuffer(b"".join(parts), dtype=ENTRY)

    def _matching_events(self, reading: OpenFile, candidates: dict[int, list[UUID]]) -> dict[UUID, EventRecord]:
        """Return the events of candidate lines whose whole identity matches."""
        found: dict[UUID, EventRecord] = {}
        lines = sorted(candidates)
        blocks = np.searchsorted(self._lines_before, lines, "right") - 1
        for block in np.unique(blocks):
            read = read_lines(reading, self._contents.blocks, int(block))
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


def salvage_events(place: Place) -> Iterator[EventRecord]:
    """Yield the events that can be read, in `archive_order`, with one block in memory.

    Raises SegmentDamagedError only when there is no file.
    """
    last: EventRecord | None = None
    with opened(place) as reading:
        offset = find_magic(reading, 0)
        while offset is not None:
            try:
                size, raw_size = frame_sizes(reading, offset)
                records = decode_frame(read_at(reading, offset, size), raw_size, last)
            except SegmentDamagedError:
                size, records = len(MAGIC), []
            yield from records
            last = records[-1] if records else last
            offset = find_magic(reading, offset + size)


def decode_frame(frame: bytes, raw_size: int, last: EventRecord | None) -> list[EventRecord]:
    """Return the events of a frame, which must continue in order after the last one. Raises SegmentDamagedError."""
    lines = decompress(frame, raw_size).split(b"\n")
    if lines.pop():
        raise SegmentDamagedError(Damage.MISMATCH, "A block does not end with a line.")
    records = decode_lines(lines, 0)
    for record in records:
        if last is not None and record.archive_order <= last.archive_order:
            raise SegmentDamagedError(Damage.MISMATCH, "Events of a block are not in order.")
        last = record
    return records


def find_magic(reading: OpenFile, offset: int) -> int | None:
    """Return where the next frame of data seems to begin, from `offset` on. Passes over pages that cannot be read."""
    size = reading.size
    before = b""  # the end of the page before, in which the mark may begin
    while offset < size:
        end = min(offset - offset % PAGE_BYTES + PAGE_BYTES, size)
        try:
            page = before + read_at(reading, offset, end - offset)
        except SegmentDamagedError:
            page = b""
        found = page.find(MAGIC)
        if found >= 0:
            return end - len(page) + found
        before, offset = page[1 - len(MAGIC) :], end
    return None


def frame_sizes(reading: OpenFile, offset: int) -> tuple[int, int]:
    """Return the size of a frame by the headers of its blocks, and that of its content (RFC 8878 section 3.1.1)."""
    head = read_at(reading, offset, min(MAX_FRAME_HEADER, reading.size - offset))
    try:
        content_size = zstandard.get_frame_parameters(head).content_size
        position = offset + zstandard.frame_header_size(head)
    except zstandard.ZstdError as error:
        raise SegmentDamagedError(Damage.CHECKSUM, "A frame has no header.") from error
    # A damaged size must not be allocated: only what its blocks can hold is believed.
    bearable, is_last = 0, False
    while not is_last:
        field = int.from_bytes(read_at(reading, position, BLOCK_HEADER), "little")
        is_last, kind, size = bool(field & 1), field >> 1 & 3, field >> 3
        if kind == RESERVED or size > BLOCK_CONTENT or bearable >= content_size + BLOCK_CONTENT:
            raise SegmentDamagedError(Damage.CHECKSUM, "A frame has blocks that it cannot have.")
        bearable += BLOCK_CONTENT
        position += BLOCK_HEADER + (1 if kind == RUN_LENGTH else size)
    if content_size > bearable:
        raise SegmentDamagedError(Damage.CHECKSUM, "A frame claims to hold more than it can.")
    return position + CHECKSUM - offset, content_size
