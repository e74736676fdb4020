"""What can be taken out of a damaged file: every event whose block is whole, and nothing else."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file import access
from apps.episodic.domain.segment_file.format import (
    BLOCK,
    BLOCK_LINES,
    FOOTER_SIZE,
    HEADER_SIZE,
    Damage,
    Footer,
    SegmentDamagedError,
)
from apps.episodic.domain.segment_file.reader import salvage_events
from tests.effort import examples
from tests.integration.episodic.segments import some_records, write_file

RECORDS = some_records(5 * BLOCK_LINES + 10)
BLOCKS = [RECORDS[start : start + BLOCK_LINES] for start in range(0, len(RECORDS), BLOCK_LINES)]
MAGIC = b"\x28\xb5\x2f\xfd"
EDITS = settings(max_examples=examples(100), deadline=None)


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("good") / "good.segment"
    write_file(path, RECORDS)
    return path.read_bytes()


@pytest.fixture(scope="module")
def places(content: bytes) -> list[tuple[int, int]]:
    """Where each block begins and ends."""
    footer = Footer.unpack(content[-FOOTER_SIZE:]) or pytest.fail("no footer")
    blocks = np.frombuffer(content[footer.blocks.offset : footer.blocks.end], dtype=BLOCK)
    return [(int(block["offset"]), int(block["offset"] + block["size"])) for block in blocks]


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bad") / "bad.segment"


def salvaged(path: Path) -> tuple[list[EventRecord], int]:
    events = list(salvage_events(path))
    return events, len(RECORDS) - len(events)


def whole_blocks(places: list[tuple[int, int]], damaged: range) -> list[EventRecord]:
    """The events of the blocks that no damaged byte is in."""
    untouched = [start >= damaged.stop or end <= damaged.start for start, end in places]
    return [record for block, is_whole in zip(BLOCKS, untouched, strict=True) if is_whole for record in block]


def test_all_events_come_out_of_a_good_file(content: bytes, bad: Path) -> None:
    bad.write_bytes(content)

    assert list(salvage_events(bad)) == RECORDS


@EDITS
@given(data=st.data(), mask=st.integers(1, 255))
def test_a_flipped_byte_costs_its_block_only(
    content: bytes, places: list[tuple[int, int]], bad: Path, data: st.DataObject, mask: int
) -> None:
    position = data.draw(st.integers(0, len(content) - 1))
    bad.write_bytes(content[:position] + bytes([content[position] ^ mask]) + content[position + 1 :])

    expected = whole_blocks(places, range(position, position + 1))
    assert salvaged(bad) == (expected, len(RECORDS) - len(expected))


@EDITS
@given(data=st.data())
def test_truncated_file_yields_its_remaining_blocks(
    content: bytes, places: list[tuple[int, int]], bad: Path, data: st.DataObject
) -> None:
    length = data.draw(st.integers(0, len(content) - 1))
    bad.write_bytes(content[:length])

    expected = whole_blocks(places, range(length, len(content)))
    assert salvaged(bad) == (expected, len(RECORDS) - len(expected))


@EDITS
@given(data=st.data(), junk=st.binary(min_size=1, max_size=40))
def test_overwritten_stretch_costs_blocks_that_it_touches(
    content: bytes, places: list[tuple[int, int]], bad: Path, data: st.DataObject, junk: bytes
) -> None:
    start = data.draw(st.integers(0, len(content) - 1))
    stop = min(len(content), start + data.draw(st.integers(1, 20_000)))
    stretch = (junk * (stop - start))[: stop - start]
    bad.write_bytes(content[:start] + stretch + content[stop:])

    events, lost = salvaged(bad)
    # Where the junk happens to be what was there, a block may be whole after all.
    assert set(_places_of(whole_blocks(places, range(start, stop)))) <= set(_places_of(events))
    assert [RECORDS[place] for place in _places_of(events)] == events
    assert lost == len(RECORDS) - len(events)


def _places_of(records: list[EventRecord]) -> list[int]:
    by_arrival = {record.arrival: place for place, record in enumerate(RECORDS)}
    return [by_arrival[record.arrival] for record in records]


def test_byte_that_was_lost_costs_its_block_although_all_that_follows_has_moved(
    content: bytes, places: list[tuple[int, int]], bad: Path
) -> None:
    position = places[2][0] + 50
    bad.write_bytes(content[:position] + content[position + 1 :])

    assert salvaged(bad) == (whole_blocks(places, range(position, position + 1)), BLOCK_LINES)


def test_block_that_is_there_twice_is_taken_once(content: bytes, places: list[tuple[int, int]], bad: Path) -> None:
    start, end = places[1]
    bad.write_bytes(content[:end] + content[start:end] + content[end:])

    assert salvaged(bad) == (RECORDS, 0)


def test_size_that_damaged_frame_claims_is_not_allocated(
    content: bytes, places: list[tuple[int, int]], bad: Path
) -> None:
    start = places[1][0]
    frame = bytearray(content[start : start + 9])
    # Single segment, checksum, four bytes of content size: 900 MB (RFC 8878 section 3.1.1.1).
    frame[4], frame[5:9] = 0b1010_0100, (900_000_000).to_bytes(4, "little")
    bad.write_bytes(content[:start] + frame + content[start + 9 :])

    tracemalloc.start()
    try:
        events, _ = salvaged(bad)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert events == whole_blocks(places, range(start, start + 9))


def test_place_that_medium_cannot_read_costs_what_lies_there(
    content: bytes, places: list[tuple[int, int]], bad: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad.write_bytes(content)
    broken = range(5 * 4_096, 6 * 4_096)
    read = access.os.pread

    def pread(descriptor: int, size: int, offset: int) -> bytes:
        if offset < broken.stop and offset + size > broken.start:
            raise OSError(5, "Input/output error")
        return read(descriptor, size, offset)

    monkeypatch.setattr(access.os, "pread", pread)

    assert salvaged(bad) == (whole_blocks(places, broken), BLOCK_LINES)


@pytest.mark.parametrize("shift", range(1, 6))
def test_a_frame_is_found_where_two_pages_meet(content: bytes, bad: Path, shift: int) -> None:
    bad.write_bytes(b"\xff" * (4_096 - shift) + content[HEADER_SIZE:])

    assert salvaged(bad) == (RECORDS, 0)


@pytest.mark.parametrize("junk", [b"", MAGIC * 5_000, MAGIC + b"\xa4" + b"\xff" * 9_000, b"x" * 9])
def test_nothing_comes_out_of_what_is_no_segment(bad: Path, junk: bytes) -> None:
    bad.write_bytes(junk)

    assert salvaged(bad) == ([], len(RECORDS))


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(SegmentDamagedError) as caught:
        list(salvage_events(tmp_path / "none.segment"))

    assert caught.value.code is Damage.MISSING
