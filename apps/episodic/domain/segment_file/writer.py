"""Writing segment files (`format`)."""

import hashlib
from typing import IO
from uuid import UUID

import numpy as np
import zstandard

from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import (
    BLOCK,
    BLOCK_BYTES,
    BLOCK_LINES,
    FORMAT_VERSION,
    MAX_BLOCK_BYTES,
    Extent,
    Footer,
    SegmentSummary,
    header_frame,
    moment_of,
    section_frame,
    short_digest,
)
from apps.episodic.domain.segment_file.lines import encode_line
from apps.episodic.domain.segment_file.tables import TableBuilder

COMPRESSION_LEVEL = 3


class SegmentWriter:
    """Writes one file into a stream, which the caller opens, syncs and closes. Holds 8 bytes per event, and a block."""

    def __init__(self, stream: IO[bytes], segment: UUID) -> None:
        self._stream = stream
        self._segment = segment
        self._sha256 = hashlib.sha256()
        self._size = 0
        self._compressor = zstandard.ZstdCompressor(
            level=COMPRESSION_LEVEL, write_checksum=True, write_content_size=True
        )
        self._tables = TableBuilder()
        self._blocks: list[tuple[int, int, int, int, int]] = []
        self._lines: list[bytes] = []
        self._raw_size = 0
        self._write(header_frame(segment))

    def add(self, record: EventRecord) -> None:
        """Add the next event in `archive_order`.

        Raises ValueError for one that does not come after the one before it, and for what JSON cannot hold.
        """
        line = encode_line(record)
        if len(line) > MAX_BLOCK_BYTES:
            raise ValueError("An event is too long for a segment.")
        if self._lines and self._raw_size + len(line) > BLOCK_BYTES:
            self._end_block()
        self._tables.add(record)
        self._lines.append(line)
        self._raw_size += len(line)
        if len(self._lines) == BLOCK_LINES:
            self._end_block()

    def finish(self) -> SegmentSummary:
        """Write what comes after the data. Raises ValueError when there were no events."""
        if not len(self._tables):
            raise ValueError("A segment has at least one event.")
        if self._lines:
            self._end_block()
        tables = self._tables.tables()
        identities = self._write_section(tables.entries.tobytes())
        data_sha256 = self._sha256.digest()
        blocks = np.array(self._blocks, dtype=BLOCK)
        contents = [blocks.tobytes(), tables.runs.tobytes(), tables.scopes, tables.pages.tobytes()]
        checksum = hashlib.sha256(b"".join(section_frame(len(content)) + content for content in contents))
        blocks_at, runs_at, scopes_at, pages_at = (self._write_section(content) for content in contents)
        footer = Footer(
            segment=self._segment,
            event_count=len(self._tables),
            first=self._tables.first,
            last=self._tables.last,
            identities=identities,
            blocks=blocks_at,
            runs=runs_at,
            scopes=scopes_at,
            pages=pages_at,
            data_sha256=data_sha256,
            tables_sha256=checksum.digest(),
        )
        self._write(footer.pack())
        return SegmentSummary(
            event_count=len(self._tables),
            first_timestamp=moment_of(self._tables.first),
            last_timestamp=moment_of(self._tables.last),
            size_bytes=self._size,
            format_version=FORMAT_VERSION,
            sha256=self._sha256.hexdigest(),
        )

    def _end_block(self) -> None:
        frame = self._compressor.compress(b"".join(self._lines))
        self._blocks.append((self._size, len(frame), self._raw_size, len(self._lines), short_digest(frame)))
        self._write(frame)
        self._tables.end_block()
        self._lines, self._raw_size = [], 0

    def _write_section(self, content: bytes) -> Extent:
        self._write(section_frame(len(content)))
        section = Extent(self._size, len(content))
        self._write(content)
        return section

    def _write(self, data: bytes) -> None:
        self._stream.write(data)
        self._sha256.update(data)
        self._size += len(data)
