"""The footer and the tables of a segment file, read and checked against each other."""

import hashlib
import re
from dataclasses import dataclass

import numpy as np

from apps.episodic.domain.segment_file.access import OpenFile, Place, opened, read_at
from apps.episodic.domain.segment_file.format import (
    BLOCK,
    ENTRY,
    FOOTER_SIZE,
    FORMAT_NAME,
    FORMAT_VERSION,
    FRAME_SIZE,
    HEADER_SIZE,
    MAX_BLOCK_BYTES,
    PAGE,
    PAGE_ENTRIES,
    RUN,
    Array,
    Damage,
    Footer,
    SegmentDamagedError,
    SegmentFacts,
    header_frame,
    looks_like_footer,
    moment_of,
)
from apps.episodic.domain.segment_file.tables import decode_scopes

_HEADER = re.compile(rb'.{8}\{"format":"' + FORMAT_NAME.encode() + rb'","version":(\d{1,9}),', re.DOTALL)


@dataclass(frozen=True)
class SegmentContents:
    """What is read when a file is opened. Arrays of BLOCK, RUN and PAGE; scopes as they are in the file."""

    footer: Footer
    facts: SegmentFacts
    blocks: Array
    runs: Array
    scopes: bytes
    pages: Array


def read_contents(place: Place) -> SegmentContents:
    """Read some 60 bytes per run, whatever the number of events. Raises SegmentDamagedError."""
    with opened(place) as reading:
        footer = read_footer(reading)
        size = reading.size
        # Each section follows the one before it, and the footer the last.
        places = [section.offset for section in footer.sections] + [size - FOOTER_SIZE + FRAME_SIZE]
        ends = [section.end for section in footer.sections]
        follows = all(place == end + FRAME_SIZE for end, place in zip(ends, places[1:], strict=True))
        sizes_fit = (
            footer.identities.size == footer.event_count * ENTRY.itemsize
            and footer.blocks.size % BLOCK.itemsize == 0
            and footer.runs.size % RUN.itemsize == 0
            and footer.pages.size == -(-footer.event_count // PAGE_ENTRIES) * PAGE.itemsize
        )
        if not (follows and sizes_fit and footer.identities.offset > HEADER_SIZE and footer.event_count > 0):
            raise SegmentDamagedError(Damage.MISMATCH, "Its sections do not lie where its footer says.")
        base = footer.identities.end
        tables = read_at(reading, base, size - FOOTER_SIZE - base)
    if hashlib.sha256(tables).digest() != footer.tables_sha256:
        raise SegmentDamagedError(Damage.CHECKSUM, "Its tables are not as they were written.")
    try:
        first, last = moment_of(footer.first), moment_of(footer.last)
    except OverflowError as error:
        raise SegmentDamagedError(Damage.MISMATCH, "Its timestamps lie beyond the calendar.") from error
    blocks, runs, scopes, pages = (
        tables[section.offset - base : section.end - base] for section in footer.sections[1:]
    )
    contents = SegmentContents(
        footer,
        SegmentFacts(footer.event_count, first, last, size, footer.version),
        np.frombuffer(blocks, dtype=BLOCK),
        np.frombuffer(runs, dtype=RUN),
        scopes,
        np.frombuffer(pages, dtype=PAGE),
    )
    check_tables(contents)
    return contents


def read_footer(reading: OpenFile) -> Footer:
    """Read the footer, and check the header. Raises SegmentDamagedError."""
    size = reading.size
    head = read_at(reading, 0, min(size, HEADER_SIZE))
    tail = read_at(reading, max(0, size - FOOTER_SIZE), min(size, FOOTER_SIZE))
    footer = Footer.unpack(tail)
    version = footer.version if footer else FORMAT_VERSION
    found = _HEADER.match(head)
    stated = int(found[1]) if found else None
    for number in (stated, version):
        if number not in (None, FORMAT_VERSION):
            raise SegmentDamagedError(Damage.UNKNOWN_VERSION, f"Its format has version {number}.")
    if footer is None:
        if looks_like_footer(tail):
            raise SegmentDamagedError(Damage.CHECKSUM, "Its footer is not as it was written.")
        if stated is None and len(head) == HEADER_SIZE:
            raise SegmentDamagedError(Damage.NOT_A_SEGMENT, "It neither begins nor ends like a segment.")
        raise SegmentDamagedError(Damage.TRUNCATED, "It does not end with a footer.")
    if head != header_frame(footer.segment):
        raise SegmentDamagedError(Damage.CHECKSUM, "Its header is not as it was written.")
    return footer


def check_tables(contents: SegmentContents) -> None:
    """Check that the blocks fill the data, the runs fill the blocks, and both hold the events of the footer.

    Raises SegmentDamagedError, also for scopes that cannot be read.
    """
    footer, blocks, runs = contents.footer, contents.blocks, contents.runs
    ends = blocks["offset"] + blocks["size"]
    starts = np.append(blocks["offset"], footer.identities.offset - FRAME_SIZE)
    fills = len(blocks) > 0 and starts[0] == HEADER_SIZE and np.array_equal(ends, starts[1:])
    is_bearable = fills and int(blocks["raw_size"].max()) <= MAX_BLOCK_BYTES
    has_all = is_bearable and int(blocks["lines"].sum(dtype=np.uint64)) == footer.event_count
    if not (has_all and runs_fit(blocks, runs)):
        raise SegmentDamagedError(Damage.MISMATCH, "Its tables do not fit together.")
    try:
        scopes = decode_scopes(contents.scopes)
    except (ValueError, TypeError) as error:
        raise SegmentDamagedError(Damage.MISMATCH, "Its scopes cannot be read.") from error
    if int(runs["scope"].max()) >= len(scopes):
        raise SegmentDamagedError(Damage.MISMATCH, "It has runs of no scope.")


def runs_fit(blocks: Array, runs: Array) -> bool:
    """Return whether the runs follow each other through all lines, each within its block."""
    if not len(runs) or int(runs["block"].max()) >= len(blocks):
        return False
    lines_before = np.concatenate([[0], np.cumsum(blocks["lines"], dtype=np.int64)])
    starts = lines_before[runs["block"]] + runs["start"]
    ends = starts + runs["count"]
    return bool(
        starts[0] == 0
        and ends[-1] == lines_before[-1]
        and np.array_equal(ends[:-1], starts[1:])
        and np.all(ends <= lines_before[runs["block"] + 1])
    )
