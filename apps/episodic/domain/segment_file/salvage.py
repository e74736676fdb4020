"""Takes out of a damaged segment file what is still good.

Goes by the data alone, since the tables may be what is damaged: looks for frames, and believes one only when its own
checksum holds, its lines are events and they continue in order.
"""

from collections.abc import Iterator
from pathlib import Path

import zstandard

from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.access import decode_lines, decompress, opened, read_at, size_of
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError

_MAGIC = b"\x28\xb5\x2f\xfd"
_PAGE = 4_096  # what a medium fails to read is some of these
_MAX_FRAME_HEADER = 18
_BLOCK_HEADER = 3
_BLOCK_CONTENT = 128 * 1024  # at most, of a block of zstandard
_RUN_LENGTH, _RESERVED = 1, 3  # types of such blocks
_CHECKSUM = 4


class Salvage:
    """An iterator of the events that can be read, in `archive_order`, with one block in memory.

    expected: how many there were. lost: how many of them have not been read (so far).
    Raises SegmentDamagedError only when there is no file.
    """

    def __init__(self, path: Path, expected: int) -> None:
        self._expected = expected
        self._read = 0
        self._last: EventRecord | None = None
        self._events = self._salvage(path)

    def __iter__(self) -> Iterator[EventRecord]:
        return self

    def __next__(self) -> EventRecord:
        record = next(self._events)
        self._read += 1
        return record

    @property
    def lost(self) -> int:
        return max(0, self._expected - self._read)

    def _salvage(self, path: Path) -> Iterator[EventRecord]:
        with opened(path) as descriptor:
            offset = _find_magic(descriptor, 0)
            while offset is not None:
                try:
                    size, raw_size = _frame_sizes(descriptor, offset)
                    records = self._in_order(_records(read_at(descriptor, offset, size), raw_size))
                except SegmentDamagedError:
                    size, records = len(_MAGIC), []
                yield from records
                offset = _find_magic(descriptor, offset + size)

    def _in_order(self, records: list[EventRecord]) -> list[EventRecord]:
        last = self._last
        for record in records:
            if last is not None and record.archive_order <= last.archive_order:
                raise SegmentDamagedError(Damage.MISMATCH, "Events of a block are not in order.")
            last = record
        self._last = last
        return records


def _records(frame: bytes, raw_size: int) -> list[EventRecord]:
    lines = decompress(frame, raw_size).split(b"\n")
    if lines.pop():
        raise SegmentDamagedError(Damage.MISMATCH, "A block does not end with a line.")
    return decode_lines(lines, 0)


def _find_magic(descriptor: int, offset: int) -> int | None:
    """Where the next frame of data seems to begin, from `offset` on. Passes over pages that cannot be read."""
    size = size_of(descriptor)
    before = b""  # the end of the page before, in which the mark may begin
    while offset < size:
        end = min(offset - offset % _PAGE + _PAGE, size)
        try:
            page = before + read_at(descriptor, offset, end - offset)
        except SegmentDamagedError:
            page = b""
        found = page.find(_MAGIC)
        if found >= 0:
            return end - len(page) + found
        before, offset = page[1 - len(_MAGIC) :], end
    return None


def _frame_sizes(descriptor: int, offset: int) -> tuple[int, int]:
    """The size of a frame by the headers of its blocks, and that of its content (RFC 8878 section 3.1.1)."""
    head = read_at(descriptor, offset, min(_MAX_FRAME_HEADER, size_of(descriptor) - offset))
    try:
        content_size = zstandard.get_frame_parameters(head).content_size
        position = offset + zstandard.frame_header_size(head)
    except zstandard.ZstdError as error:
        raise SegmentDamagedError(Damage.CHECKSUM, "A frame has no header.") from error
    # A damaged size must not make anybody allocate it: only what its blocks can hold is believed.
    bearable, is_last = 0, False
    while not is_last:
        field = int.from_bytes(read_at(descriptor, position, _BLOCK_HEADER), "little")
        is_last, kind, size = bool(field & 1), field >> 1 & 3, field >> 3
        if kind == _RESERVED or size > _BLOCK_CONTENT or bearable >= content_size + _BLOCK_CONTENT:
            raise SegmentDamagedError(Damage.CHECKSUM, "A frame has blocks that it cannot have.")
        bearable += _BLOCK_CONTENT
        position += _BLOCK_HEADER + (1 if kind == _RUN_LENGTH else size)
    if content_size > bearable:
        raise SegmentDamagedError(Damage.CHECKSUM, "A frame claims to hold more than it can.")
    return position + _CHECKSUM - offset, content_size
