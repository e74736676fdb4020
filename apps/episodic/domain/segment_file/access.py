"""Bytes and blocks of a segment file. Anything wrong with them is a SegmentDamagedError.

Other errors of the system (too many open files, no permission) say nothing about the file and pass through.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import zstandard

from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import MAX_BLOCK_BYTES, Array, Damage, SegmentDamagedError, short_digest
from apps.episodic.domain.segment_file.lines import decode_line


class OpenFile(Protocol):
    """A file while it is read. size: in bytes."""

    @property
    def size(self) -> int: ...

    def read(self, offset: int, size: int) -> bytes:
        """Return these bytes, or the first of them. Raises OSError."""

    def close(self) -> None: ...


class Stored(Protocol):
    """A file that is somewhere else than on a disk. Hashable."""

    def open(self) -> OpenFile:
        """Return it for reading. Raises FileNotFoundError, and OSError for what says nothing about the file."""


# Where a segment file is: on a disk, or in a store.
Place = Path | Stored


class DiskFile:
    """A regular file of a disk, by its descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @property
    def size(self) -> int:
        """Return its size as it is now."""
        return os.fstat(self._descriptor).st_size

    def read(self, offset: int, size: int) -> bytes:
        """Return these bytes, or the first of them. A medium that fails is a damage of the file."""
        try:
            return os.pread(self._descriptor, size, offset)
        except OSError as error:
            if error.errno == errno.EIO:
                raise SegmentDamagedError(Damage.UNREADABLE, f"The medium fails at byte {offset}.") from error
            raise

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._descriptor)


def open_path(path: Path) -> DiskFile:
    """Open a regular file. Raises FileNotFoundError, SegmentDamagedError for what is none."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise SegmentDamagedError(Damage.NOT_A_SEGMENT, "It is not a regular file.")
    # Without waiting for a writer, in case it has just become a pipe.
    return DiskFile(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))


@contextmanager
def opened(place: Place) -> Iterator[OpenFile]:
    """Open a file for as long as the block runs."""
    try:
        reading: OpenFile = open_path(place) if isinstance(place, Path) else place.open()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise SegmentDamagedError(Damage.MISSING, "There is no such file.") from error
    try:
        yield reading
    except FileNotFoundError as error:  # removed from a store while it was read
        raise SegmentDamagedError(Damage.MISSING, "There is no such file any more.") from error
    finally:
        reading.close()


def read_at(reading: OpenFile, offset: int, size: int) -> bytes:
    """Read exactly these bytes. Nothing is allocated for bytes that the file does not have."""
    if offset + size > reading.size:
        raise SegmentDamagedError(Damage.TRUNCATED, f"It ends before byte {offset + size}.")
    parts: list[bytes] = []
    while size > 0:
        part = reading.read(offset, size)
        if not part:
            raise SegmentDamagedError(Damage.TRUNCATED, f"It ends before byte {offset + size}.")
        parts.append(part)
        offset, size = offset + len(part), size - len(part)
    return b"".join(parts)


def read_block(reading: OpenFile, blocks: Array, number: int) -> bytes:
    """Read one block, and check its digest and its size."""
    offset, size, raw_size, _, digest = blocks[number].item()
    frame = read_at(reading, offset, size)
    if short_digest(frame) != digest:
        raise SegmentDamagedError(Damage.CHECKSUM, f"Block {number} is not as it was written.")
    return decompress(frame, raw_size)


def read_lines(reading: OpenFile, blocks: Array, number: int) -> list[bytes]:
    """Read the lines of one block, and check its digest, its size and its number of lines."""
    lines = read_block(reading, blocks, number).split(b"\n")
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
