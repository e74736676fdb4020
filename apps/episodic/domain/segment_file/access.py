"""Bytes and blocks of a segment file. Anything wrong with them is a SegmentDamagedError.

Other errors of the system (too many open files, no permission) say nothing about the file and pass through.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import zstandard

from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import MAX_BLOCK_BYTES, Array, Damage, SegmentDamagedError, short_digest
from apps.episodic.domain.segment_file.lines import decode_line


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """Open a regular file, and yield its descriptor."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise SegmentDamagedError(Damage.NOT_A_SEGMENT, "It is not a regular file.")
        # Without waiting for a writer, in case it has just become a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise SegmentDamagedError(Damage.MISSING, "There is no such file.") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def size_of(descriptor: int) -> int:
    """Return the file's size in bytes."""
    return os.fstat(descriptor).st_size


def read_at(descriptor: int, offset: int, size: int) -> bytes:
    """Read exactly these bytes. Nothing is allocated for bytes that the file does not have."""
    if offset + size > size_of(descriptor):
        raise SegmentDamagedError(Damage.TRUNCATED, f"It ends before byte {offset + size}.")
    parts: list[bytes] = []
    while size > 0:
        try:
            part = os.pread(descriptor, size, offset)
        except OSError as error:
            if error.errno == errno.EIO:
                raise SegmentDamagedError(Damage.UNREADABLE, f"The medium fails at byte {offset}.") from error
            raise
        if not part:
            raise SegmentDamagedError(Damage.TRUNCATED, f"It ends before byte {offset + size}.")
        parts.append(part)
        offset, size = offset + len(part), size - len(part)
    return b"".join(parts)


def read_block(descriptor: int, blocks: Array, number: int) -> bytes:
    """Read one block, and check its digest and its size."""
    offset, size, raw_size, _, digest = blocks[number].item()
    frame = read_at(descriptor, offset, size)
    if short_digest(frame) != digest:
        raise SegmentDamagedError(Damage.CHECKSUM, f"Block {number} is not as it was written.")
    return decompress(frame, raw_size)


def read_lines(descriptor: int, blocks: Array, number: int) -> list[bytes]:
    """Read the lines of one block, and check its digest, its size and its number of lines."""
    lines = read_block(descriptor, blocks, number).split(b"\n")
    if len(lines) != int(blocks["lines"][number]) + 1 or lines.pop():
        raise SegmentDamagedError(Damage.MISMATCH, f"Block {number} is not as its table says.")
    return lines


def decompress(frame: bytes, raw_size: int) -> bytes:
    """Return the content of one frame of data, which must be `raw_size` bytes by its own header, with a checksum.

    The size that a frame claims is what gets allocated for it.
    """
    try:
        parameters = zstandard.get_frame_parameters(frame)
        if not parameters.has_checksum or parameters.content_size != raw_size or raw_size > MAX_BLOCK_BYTES:
            raise SegmentDamagedError(Damage.MISMATCH, "A block begins otherwise than it was written.")
        return zstandard.ZstdDecompressor().decompress(frame, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise SegmentDamagedError(Damage.CHECKSUM, "A block cannot be decompressed.") from error


def decode_lines(lines: list[bytes], number: int) -> list[EventRecord]:
    """Return the events of lines of a block."""
    try:
        return [decode_line(line) for line in lines]
    except (ValueError, KeyError, TypeError) as error:
        raise SegmentDamagedError(Damage.MISMATCH, f"A line of block {number} is no event.") from error
