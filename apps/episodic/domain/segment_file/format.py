"""The format of a segment file, byte by byte (DESIGN D8, docs/decisions/0014-segment-files.md).

    header      skippable frame: {"format", "version", "segment"} as JSON
    data        zstandard frames, each a block of at most BLOCK_LINES lines or BLOCK_BYTES of NDJSON
    identities  skippable frame: ENTRY for every event, ascending by prefix; every PAGE_ENTRIES of them are a page
    tables      skippable frames: BLOCK and RUN arrays, scopes as JSON, PAGE array
    footer      skippable frame of fixed size: figures, places of the sections, checksums

Everything is covered from the end: the footer by its own checksum, the tables by the footer, blocks and pages by the
tables, and header, data and identities as a whole by the footer again. `zstd -dc` skips all but the data.
Integers are little-endian, timestamps are microseconds since 1970-01-01T00:00:00Z.
"""

import hashlib
import struct
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import numpy.typing as npt

FORMAT_NAME = "memoryhub-timeline"
FORMAT_VERSION = 1
BLOCK_LINES = 128
BLOCK_BYTES = 128 * 1024
MAX_BLOCK_BYTES = 1 << 30  # of one line that is longer than a block; as much as PostgreSQL keeps in one value
PAGE_ENTRIES = 512

# digest: the first 8 bytes of the sha256 of the compressed block.
BLOCK = np.dtype([("offset", "<u8"), ("size", "<u4"), ("raw_size", "<u4"), ("lines", "<u4"), ("digest", "<u8")])
# Consecutive lines of one scope in one block. start: its first line in the block. first, last: timestamps.
RUN = np.dtype(
    [("first", "<i8"), ("last", "<i8"), ("scope", "<u4"), ("block", "<u4"), ("start", "<u2"), ("count", "<u2")]
)
# prefix: the first 64 bits of the identity. line: counted from the start of the file.
ENTRY = np.dtype([("prefix", "<u8"), ("line", "<u4")])
# prefix: of the page's first entry. digest: the first 8 bytes of the sha256 of its entries.
PAGE = np.dtype([("prefix", "<u8"), ("digest", "<u8")])
Array = npt.NDArray[Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FRAME = struct.Struct("<II")
FRAME_SIZE = _FRAME.size
_HEADER_MAGIC, _SECTION_MAGIC, _FOOTER_MAGIC = 0x184D2A50, 0x184D2A51, 0x184D2A5F
_MARKER = b"MHFOOTER"
# marker, version, segment, event count, first and last timestamp, five sections, checksums of data and of tables
_FOOTER = struct.Struct("<8sH6x16sQqq10Q32s32s")
_DIGEST_SIZE = hashlib.sha256().digest_size
FOOTER_SIZE = FRAME_SIZE + _FOOTER.size + _DIGEST_SIZE


class Damage(StrEnum):
    """What is wrong with a file."""

    MISSING = "missing"
    NOT_A_SEGMENT = "not_a_segment"
    UNKNOWN_VERSION = "unknown_version"
    TRUNCATED = "truncated"
    CHECKSUM = "checksum"
    MISMATCH = "mismatch"  # each part is as it was written, and they do not belong together
    UNREADABLE = "unreadable"  # the medium reports an error


class SegmentDamagedError(Exception):
    """A segment file cannot be trusted. detail: for operators; never content of events."""

    def __init__(self, code: Damage, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


@dataclass(frozen=True)
class SegmentFacts:
    """What the footer says of a file. Timestamps: of the earliest and of the latest event. size_bytes: of the file."""

    event_count: int
    first_timestamp: datetime
    last_timestamp: datetime
    size_bytes: int
    format_version: int


@dataclass(frozen=True)
class SegmentSummary(SegmentFacts):
    """What the catalogue keeps of a file. sha256: of the whole file, in hex, as `sha256sum` prints it."""

    sha256: str


class Extent(NamedTuple):
    """Where a section lies: the content of a skippable frame, without the 8 bytes before it."""

    offset: int
    size: int

    @property
    def end(self) -> int:
        """Return the offset after its last byte."""
        return self.offset + self.size


@dataclass(frozen=True)
class Footer:
    """The last FOOTER_SIZE bytes of a file. first, last: microseconds."""

    segment: UUID
    event_count: int
    first: int
    last: int
    identities: Extent
    blocks: Extent
    runs: Extent
    scopes: Extent
    pages: Extent
    data_sha256: bytes
    tables_sha256: bytes
    version: int = FORMAT_VERSION

    @property
    def sections(self) -> tuple[Extent, ...]:
        """Return the sections in the order of the file."""
        return self.identities, self.blocks, self.runs, self.scopes, self.pages

    def pack(self) -> bytes:
        """Return the whole frame."""
        places = [number for section in self.sections for number in section]
        times = (self.event_count, self.first, self.last)
        checksums = (self.data_sha256, self.tables_sha256)
        body = _FOOTER.pack(_MARKER, self.version, self.segment.bytes, *times, *places, *checksums)
        frame = _FRAME.pack(_FOOTER_MAGIC, _FOOTER.size + _DIGEST_SIZE) + body
        return frame + hashlib.sha256(frame).digest()

    @classmethod
    def unpack(cls, frame: bytes) -> "Footer | None":
        """Return the footer in the last bytes of a file; None when they are none, or a damaged one."""
        if len(frame) != FOOTER_SIZE or hashlib.sha256(frame[:-_DIGEST_SIZE]).digest() != frame[-_DIGEST_SIZE:]:
            return None
        values = _FOOTER.unpack(frame[FRAME_SIZE:-_DIGEST_SIZE])
        marker, version, segment, event_count, first, last = values[:6]
        if marker != _MARKER:
            return None
        identities, blocks, runs, scopes, pages = (Extent(*values[place : place + 2]) for place in range(6, 16, 2))
        checksums = {"data_sha256": values[16], "tables_sha256": values[17]}
        times = (event_count, first, last)
        return cls(UUID(bytes=segment), *times, identities, blocks, runs, scopes, pages, **checksums, version=version)


def header_frame(segment: UUID) -> bytes:
    """Return the first bytes of a file of this version."""
    text = f'{{"format":"{FORMAT_NAME}","version":{FORMAT_VERSION},"segment":"{segment}"}}\n'.encode()
    return _FRAME.pack(_HEADER_MAGIC, len(text)) + text


HEADER_SIZE = len(header_frame(UUID(int=0)))


def section_frame(size: int) -> bytes:
    """Return the 8 bytes before a section."""
    return _FRAME.pack(_SECTION_MAGIC, size)


def looks_like_footer(frame: bytes) -> bool:
    """Return whether the last bytes of a file are a footer, even a damaged one.

    One damaged byte leaves one of its marks intact.
    """
    mark = _FRAME.pack(_FOOTER_MAGIC, _FOOTER.size + _DIGEST_SIZE)
    return frame[:FRAME_SIZE] == mark or frame[FRAME_SIZE : FRAME_SIZE + len(_MARKER)] == _MARKER


def short_digest(data: bytes | memoryview) -> int:
    """Return the first 8 bytes of the sha256 as a number, as tables keep it."""
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "little")


def identity_prefix(identity: UUID) -> int:
    """Return the first 64 bits of an identity."""
    return identity.int >> 64


def microseconds(moment: datetime) -> int:
    """Return the microseconds since the epoch, exactly. Raises ValueError for a naive time."""
    if moment.tzinfo is None:
        raise ValueError("A timestamp of the timeline has an offset.")
    return (moment - _EPOCH) // _MICROSECOND


def moment_of(number: int) -> datetime:
    """Return the time in UTC of microseconds since the epoch. Raises OverflowError beyond the years 1 to 9999."""
    return _EPOCH + number * _MICROSECOND
