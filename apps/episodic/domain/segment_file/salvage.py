"""Salvaging what is still good in a damaged segment file.

Uses the data alone, since the tables may be what is damaged: looks for frames, and accepts one only if its own
checksum holds, its lines are events and they continue in order.
"""

from collections.abc import Iterator
from pathlib import Path

import zstandard

from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.access import decode_lines, decompress, opened, read_at, size_of
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError

MAGIC = b"\x28\xb5\x2f\xfd"
PAGE_BYTES = 4_096  # what a medium fails to read is some of these
MAX_FRAME_HEADER = 18
BLOCK_HEADER = 3
BLOCK_CONTENT = 128 * 1024  # at most, of a block of zstandard
RUN_LENGTH, RESERVED = 1, 3  # types of such blocks
CHECKSUM = 4


def salvage_events(path: Path) -> Iterator[EventRecord]:
    """Yield the events that can be read, in `archive_order`, with one block in memory.

    Raises SegmentDamagedError only when there is no file.
    """
    last: EventRecord | None = None
    with opened(path) as descriptor:
        offset = find_magic(descriptor, 0)
        while offset is not None:
            try:
                size, raw_size = frame_sizes(descriptor, offset)
                records = decode_frame(read_at(descriptor, offset, size), raw_size, last)
            except SegmentDamagedError:
                size, records = len(MAGIC), []
            yield from records
            last = records[-1] if records else last
            offset = find_magic(descriptor, offset + size)


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


def find_magic(descriptor: int, offset: int) -> int | None:
    """Return where the next frame of data seems to begin, from `offset` on. Passes over pages that cannot be read."""
    size = size_of(descriptor)
    before = b""  # the end of the page before, in which the mark may begin
    while offset < size:
        end = min(offset - offset % PAGE_BYTES + PAGE_BYTES, size)
        try:
            page = before + read_at(descriptor, offset, end - offset)
        except SegmentDamagedError:
            page = b""
        found = page.find(MAGIC)
        if found >= 0:
            return end - len(page) + found
        before, offset = page[1 - len(MAGIC) :], end
    return None


def frame_sizes(descriptor: int, offset: int) -> tuple[int, int]:
    """Return the size of a frame by the headers of its blocks, and that of its content (RFC 8878 section 3.1.1)."""
    head = read_at(descriptor, offset, min(MAX_FRAME_HEADER, size_of(descriptor) - offset))
    try:
        content_size = zstandard.get_frame_parameters(head).content_size
        position = offset + zstandard.frame_header_size(head)
    except zstandard.ZstdError as error:
        raise SegmentDamagedError(Damage.CHECKSUM, "A frame has no header.") from error
    # A damaged size must not be allocated: only what its blocks can hold is believed.
    bearable, is_last = 0, False
    while not is_last:
        field = int.from_bytes(read_at(descriptor, position, BLOCK_HEADER), "little")
        is_last, kind, size = bool(field & 1), field >> 1 & 3, field >> 3
        if kind == RESERVED or size > BLOCK_CONTENT or bearable >= content_size + BLOCK_CONTENT:
            raise SegmentDamagedError(Damage.CHECKSUM, "A frame has blocks that it cannot have.")
        bearable += BLOCK_CONTENT
        position += BLOCK_HEADER + (1 if kind == RUN_LENGTH else size)
    if content_size > bearable:
        raise SegmentDamagedError(Damage.CHECKSUM, "A frame claims to hold more than it can.")
    return position + CHECKSUM - offset, content_size
