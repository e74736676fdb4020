"""What is read from a good segment file: exactly what a list of its events would say."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import numpy as np
import psutil
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import PAGE_ENTRIES, Damage, SegmentDamagedError
from apps.episodic.domain.segment_file.reader import SegmentFile
from tests.effort import examples
from tests.integration.episodic.segments import SEGMENT, some_records, write_file
from tests.segments import path_of

COUNT = PAGE_ENTRIES * 2 + 100


@pytest.fixture(scope="module")
def records() -> list[EventRecord]:
    return some_records(COUNT, users=40)


@pytest.fixture(scope="module")
def file(records: list[EventRecord], tmp_path_factory: pytest.TempPathFactory) -> SegmentFile:
    path = tmp_path_factory.mktemp("good") / "good.segment"
    write_file(path, records)
    return SegmentFile.open(path)


def lines_of(file: SegmentFile, records: list[EventRecord], run: int) -> list[EventRecord]:
    before = int(file.runs["count"][:run].sum())
    return records[before : before + int(file.runs["count"][run])]


@settings(max_examples=examples(25), deadline=None)
@given(count=st.integers(1, COUNT), users=st.integers(1, 60), seed=st.integers(0, 2**32))
def test_however_many_scopes_and_blocks_events_come_back(
    tmp_path_factory: pytest.TempPathFactory, count: int, users: int, seed: int
) -> None:
    records = some_records(count, seed=seed, users=users)
    path = tmp_path_factory.mktemp("some") / "some.segment"
    summary = write_file(path, records)
    file = SegmentFile.open(path)

    file.verify(summary.sha256)
    assert list(file.events()) == records
    assert file.read_runs(range(len(file.runs))) == records
    assert file.find([record.identity for record in records]) == {record.identity: record for record in records}


@settings(max_examples=examples(50), deadline=None)
@given(data=st.data())
def test_runs_are_read_in_order_in_which_they_are_asked_for(
    file: SegmentFile, records: list[EventRecord], data: st.DataObject
) -> None:
    runs = data.draw(st.lists(st.integers(0, len(file.runs) - 1), max_size=8))

    assert file.read_runs(runs) == [record for run in runs for record in lines_of(file, records, run)]


def test_a_run_says_when_it_begins_and_ends(file: SegmentFile, records: list[EventRecord]) -> None:
    for number, run in enumerate(file.runs):
        times = [int(record.timestamp.timestamp() * 1_000_000) for record in lines_of(file, records, number)]
        assert (run["first"], run["last"]) == (times[0], times[-1])


@settings(max_examples=examples(50), deadline=None)
@given(known=st.lists(st.integers(0, COUNT - 1), max_size=30), unknown=st.lists(st.uuids(), max_size=30))
def test_identities_are_found_when_they_are_there(
    file: SegmentFile, records: list[EventRecord], known: list[int], unknown: list[UUID]
) -> None:
    asked = [*unknown, *(records[place].identity for place in known)]

    assert file.find(asked) == {records[place].identity: records[place] for place in known}


def test_smallest_and_greatest_identity_are_found(tmp_path: Path) -> None:
    ends = [UUID(int=0), UUID(int=2**128 - 1)]
    records = [replace(record, identity=ends[place]) for place, record in enumerate(some_records(2))]
    write_file(tmp_path / "a.segment", records)

    assert set(SegmentFile.open(tmp_path / "a.segment").find(ends)) == set(ends)


def test_identities_that_begin_alike_are_distinguished(tmp_path: Path) -> None:
    """More of them than a page holds, so that a page also begins with what the one before it ended with."""
    alike = [UUID(int=(7 << 64) + place) for place in range(PAGE_ENTRIES + 50)]
    others = [UUID(int=place << 64) for place in range(7)]
    records = some_records(len(alike) + len(others))
    records = [replace(record, identity=identity) for record, identity in zip(records, others + alike, strict=True)]
    write_file(tmp_path / "a.segment", records)

    found = SegmentFile.open(tmp_path / "a.segment").find([*alike, *others, UUID(int=(7 << 64) + 9999), UUID(int=1)])

    assert found == {record.identity: record for record in records}


def test_nothing_is_found_among_no_identities(file: SegmentFile) -> None:
    assert file.find([]) == {}


def test_figures_are_known_without_reading_events(file: SegmentFile, records: list[EventRecord]) -> None:
    assert file.summary.event_count == COUNT
    assert file.summary.first_timestamp == min(record.timestamp for record in records)
    assert file.summary.last_timestamp == max(record.timestamp for record in records)
    assert file.summary.size_bytes == path_of(file).stat().st_size
    assert file.nbytes < file.summary.size_bytes / 4


def test_size_before_compression_is_that_of_lines(file: SegmentFile) -> None:
    lines = zstandard.ZstdDecompressor().stream_reader(path_of(file).read_bytes(), read_across_frames=True).read()
    assert file.raw_bytes == len(lines)
    shares = file.bytes_of(np.arange(len(file.runs)))
    assert shares.min() > 0
    assert len(lines) - len(shares) < shares.sum() <= len(lines)


def test_an_open_file_holds_no_descriptor(file: SegmentFile) -> None:
    before = psutil.Process().num_fds()
    other = SegmentFile.open(path_of(file))
    other.read_runs([0])
    next(events := other.events())
    events.close()

    assert psutil.Process().num_fds() == before


def test_many_threads_read_the_same_file(file: SegmentFile, records: list[EventRecord]) -> None:
    with ThreadPoolExecutor(8) as pool:
        read = list(pool.map(lambda run: file.read_runs([run]), range(len(file.runs))))

    assert [record for run in read for record in run] == records


def test_events_are_read_on_although_file_loses_its_name(tmp_path: Path, records: list[EventRecord]) -> None:
    path = tmp_path / "a.segment"
    write_file(path, records)
    events = SegmentFile.open(path).events()
    first = next(events)
    path.unlink()

    assert [first, *events] == records


def test_the_file_of_another_segment_is_refused(file: SegmentFile) -> None:
    SegmentFile.open(path_of(file), SEGMENT)
    with pytest.raises(SegmentDamagedError) as caught:
        SegmentFile.open(path_of(file), UUID(int=1))

    assert caught.value.code is Damage.MISMATCH


def test_good_file_with_another_checksum_than_catalogue_has_is_refused(file: SegmentFile) -> None:
    assert file.digest() != "0" * 64
    with pytest.raises(SegmentDamagedError) as caught:
        file.verify("0" * 64)

    assert caught.value.code is Damage.CHECKSUM
