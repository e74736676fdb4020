"""Opens a segment file: reads its footer and its tables, and holds everything against everything."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from apps.episodic.domain.segment_file.access import opened, read_at, size_of
from apps.episodic.domain.segment_file.format import (
    BLOCK,
    ENTRY,
    FOOTER_SIZE,
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
    header_version,
    looks_like_footer,
    moment_of,
)
from apps.episodic.domain.segment_file.tables import decode_scopes


@dataclass(frozen=True)
class Contents:
    """What opening reads. Arrays of BLOCK, RUN and PAGE; scopes as they are in the file."""

    footer: Footer
    facts: SegmentFacts
    blocks: Array
    runs: Array
    scopes: bytes
    pages: Array


def read_contents(path: Path) -> Contents:
    """Reads some 60 bytes per run, whatever the number of events. Raises SegmentDamagedError."""
    with opened(path) as descriptor:
        footer = _read_footer(descriptor)
        size = size_of(descriptor)
        _check_places(footer, size)
        tables = read_at(descriptor, footer.identities.end, size - FOOTER_SIZE - footer.identities.end)
    if hashlib.sha256(tables).digest() != footer.tables_sha256:
        raise SegmentDamagedError(Damage.CHECKSUM, "Its tables are not as they were written.")
    contents = _contents(footer, tables, size)
    _check_tables(contents)
    _check_scopes(contents)
    return contents


def _read_footer(descriptor: int) -> Footer:
    size = size_of(descriptor)
    head = read_at(descriptor, 0, min(size, HEADER_SIZE))
    tail = read_at(descriptor, max(0, size - FOOTER_SIZE), min(size, FOOTER_SIZE))
    footer = Footer.unpack(tail)
    version = footer.version if footer else FORMAT_VERSION
    stated = header_version(head)
    for number in (stated, version):
        if number not in (None, FORMAT_VERSION):
            raise SegmentDamagedError(Damage.UNKNOWN_VERSION, f"Its format has version {number}.")
    if footer is None:
        raise _without_footer(head, tail, stated)
    if head != header_frame(footer.segment):
        raise SegmentDamagedError(Damage.CHECKSUM, "Its header is not as it was written.")
    return footer


def _without_footer(head: bytes, tail: bytes, stated: int | None) -> SegmentDamagedError:
    if looks_like_footer(tail):
        return SegmentDamagedError(Damage.CHECKSUM, "Its footer is not as it was written.")
    if stated is None and len(head) == HEADER_SIZE:
        return SegmentDamagedError(Damage.NOT_A_SEGMENT, "It neither begins nor ends like a segment.")
    return SegmentDamagedError(Damage.TRUNCATED, "It does not end with a footer.")


def _check_places(footer: Footer, size: int) -> None:
    """Each section follows the one before it, and the footer the last."""
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


def _contents(footer: Footer, tables: bytes, size: int) -> Contents:
    base = footer.identities.end
    blocks, runs, scopes, pages = (
        tables[section.offset - base : section.end - base] for section in footer.sections[1:]
    )
    try:
        first, last = moment_of(footer.first), moment_of(footer.last)
    except OverflowError as error:
        raise SegmentDamagedError(Damage.MISMATCH, "Its timestamps lie beyond the calendar.") from error
    return Contents(
        footer,
        SegmentFacts(footer.event_count, first, last, size, footer.version),
        np.frombuffer(blocks, dtype=BLOCK),
        np.frombuffer(runs, dtype=RUN),
        scopes,
        np.frombuffer(pages, dtype=PAGE),
    )


def _check_tables(contents: Contents) -> None:
    """The blocks fill the data, the runs fill the blocks, and both hold as many events as the footer says."""
    footer, blocks, runs = contents.footer, contents.blocks, contents.runs
    ends = blocks["offset"] + blocks["size"]
    starts = np.append(blocks["offset"], footer.identities.offset - FRAME_SIZE)
    fills = len(blocks) > 0 and starts[0] == HEADER_SIZE and np.array_equal(ends, starts[1:])
    bearable = fills and int(blocks["raw_size"].max()) <= MAX_BLOCK_BYTES
    if not (bearable and int(blocks["lines"].sum(dtype=np.uint64)) == footer.event_count and _runs_fit(blocks, runs)):
        raise SegmentDamagedError(Damage.MISMATCH, "Its tables do not fit together.")


def _check_scopes(contents: Contents) -> None:
    try:
        scopes = decode_scopes(contents.scopes)
    except (ValueError, TypeError) as error:
        raise SegmentDamagedError(Damage.MISMATCH, "Its scopes cannot be read.") from error
    if int(contents.runs["scope"].max()) >= len(scopes):
        raise SegmentDamagedError(Damage.MISMATCH, "It has runs of no scope.")


def _runs_fit(blocks: Array, runs: Array) -> bool:
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
