"""Which runs a window needs: together with reading them, exactly what a list of all events would say."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from apps.core.domain.scope import Reach, Scope
from apps.episodic.domain.archive_index import ArchiveIndex
from apps.episodic.domain.event import EventRecord, ScopeKey
from apps.episodic.domain.segment_file.format import microseconds
from apps.episodic.domain.segment_file.reader import SegmentFile
from tests.effort import examples
from tests.integration.episodic.segments import START, some_records, write_file

USERS = 4
COUNT = 150
Archive = dict[int, list[EventRecord]]

identifiers = {
    "user_id": [None, *(f"user {number}" for number in range(USERS)), "nobody"],
    "household_id": [None, "home 0", "home 1", "nowhere"],
    "persona_id": [None, "chef", "nurse", "no one"],
}
scopes = st.builds(Scope, **{name: st.sampled_from(values) for name, values in identifiers.items()})
# Times at which events happen, and times between.
moments = st.none() | st.builds(
    lambda hours, extra: START + timedelta(hours=hours, microseconds=extra),
    st.integers(-30, 750),
    st.sampled_from([-1, 0, 1, 999_999]),
)


@pytest.fixture(scope="module")
def archive() -> Archive:
    return {
        segment: some_records(COUNT, seed=segment, users=USERS, first=COUNT * segment) for segment in (3, 11, 2**40)
    }


@pytest.fixture(scope="module")
def files(archive: Archive, tmp_path_factory: pytest.TempPathFactory) -> dict[int, SegmentFile]:
    directory = tmp_path_factory.mktemp("archive")
    return {segment: file_of(directory / f"{segment}.segment", records) for segment, records in archive.items()}


@pytest.fixture(scope="module")
def index(files: dict[int, SegmentFile]) -> ArchiveIndex:
    return index_of(files)


def file_of(path: Path, records: list[EventRecord]) -> SegmentFile:
    write_file(path, records)
    return SegmentFile.open(path)


def index_of(files: dict[int, SegmentFile]) -> ArchiveIndex:
    index = ArchiveIndex()
    for segment, file in files.items():
        index.add(segment, file)
    return index


def arrivals(records: Iterator[EventRecord] | list[EventRecord]) -> list[int]:
    return sorted(record.arrival for record in records)


def is_within(record: EventRecord, start: datetime | None, end: datetime | None) -> bool:
    return (start is None or record.timestamp >= start) and (end is None or record.timestamp <= end)


def require_same(
    index: ArchiveIndex, archive: Archive, scope: Scope, start: datetime | None, end: datetime | None
) -> None:
    """Holds a selection against the events themselves."""
    mine = [record for records in archive.values() for record in records if record.key.is_in(scope)]
    selection = index.select(Reach(scope), start, end)
    read = [
        record
        for segment, runs in selection.by_segment().items()
        for record in index.file(segment).read_runs(runs)
        if is_within(record, start, end)
    ]

    assert selection.total == len(mine)
    assert arrivals(read) == arrivals([record for record in mine if is_within(record, start, end)])
    assert selection.outside + int(selection.runs["count"].sum()) == selection.total
    assert len(selection.whole) + len(selection.partial) == len(selection.runs)
    for segment, run, *_ in selection.whole.tolist():
        assert all(is_within(record, start, end) for record in index.file(segment).read_runs([run]))
    for segment, run, *_ in selection.partial.tolist():
        assert not all(is_within(record, start, end) for record in index.file(segment).read_runs([run]))


@settings(max_examples=examples(200), deadline=None)
@given(scope=scopes, start=moments, end=moments)
def test_a_window_holds_what_a_list_would_give(
    index: ArchiveIndex, archive: Archive, scope: Scope, start: datetime | None, end: datetime | None
) -> None:
    require_same(index, archive, scope, start, end)


def test_both_ends_of_a_window_are_in_it(index: ArchiveIndex, archive: Archive) -> None:
    for record in archive[3][:20]:
        selection = index.select(Reach(record.key.scope), record.timestamp, record.timestamp)
        assert 3 in selection.by_segment()


def test_runs_say_what_file_says_of_them_latest_end_first(index: ArchiveIndex, files: dict[int, SegmentFile]) -> None:
    runs = index.select(Reach(Scope()), None, None).runs

    assert all(one >= other for one, other in pairwise(runs["last"].tolist()))
    for segment, run, count, first, last, is_whole in runs.tolist():
        there = files[segment].runs[run]
        assert (count, first, last, is_whole) == (there["count"], there["first"], there["last"], True)


def test_identifier_of_another_kind_is_never_mistaken(tmp_path: Path) -> None:
    """A persona that is named like a user, and identifiers that run together alike."""
    keys = [ScopeKey("a", "b", "c"), ScopeKey("b", "a", "c"), ScopeKey("ab", "", "c"), ScopeKey("c", "ab", "a")]
    records = [replace(record, key=key) for record, key in zip(some_records(4), keys, strict=True)]
    index = index_of({1: file_of(tmp_path / "a.segment", sorted(records, key=lambda record: record.archive_order))})

    for key in keys:
        assert index.select(Reach(key.scope), None, None).total == 1
    assert index.select(Reach(Scope(household_id="ab")), None, None).total == 1
    assert index.select(Reach(Scope(user_id="a", persona_id="a")), None, None).total == 0


def test_an_empty_index_has_nothing() -> None:
    index = ArchiveIndex()

    assert (index.segment_ids, index.last_timestamp, index.event_count) == (frozenset(), None, 0)
    for scope in (Scope(), Scope("ana"), Scope("ana", "home", "chef")):
        selection = index.select(Reach(scope), None, START)
        assert (selection.total, selection.outside, len(selection.runs)) == (0, 0, 0)


def test_the_figures_are_those_of_the_files(index: ArchiveIndex, archive: Archive) -> None:
    everything = [record for records in archive.values() for record in records]

    assert index.segment_ids == set(archive)
    assert index.event_count == len(everything)
    assert index.last_timestamp == max(record.timestamp for record in everything)


def test_segment_that_is_removed_is_no_longer_selected(files: dict[int, SegmentFile], archive: Archive) -> None:
    index = index_of(files)
    index.select(Reach(Scope()), None, None)
    index.remove(11)
    index.remove(12)

    require_same(index, {3: archive[3], 2**40: archive[2**40]}, Scope(), None, None)
    with pytest.raises(KeyError):
        index.file(11)


def test_segment_that_is_added_again_counts_once(files: dict[int, SegmentFile], archive: Archive) -> None:
    index = index_of(files)
    index.add(11, files[11])

    require_same(index, archive, Scope("user 1"), None, START + timedelta(days=9))


def test_copy_can_be_changed_while_original_stays(files: dict[int, SegmentFile], archive: Archive) -> None:
    index = index_of(files)
    other = index.copy()
    other.remove(3)
    other.add(4, files[3])
    other.remove(11)

    require_same(index, archive, Scope("user 2"), START, None)
    require_same(other, {4: archive[3], 2**40: archive[2**40]}, Scope("user 2"), START, None)


def test_a_copy_forgets_scopes_that_no_file_has(tmp_path: Path) -> None:
    index = ArchiveIndex()
    for number in range(20):
        records = [replace(record, key=ScopeKey(f"guest {number}")) for record in some_records(3, first=number * 3)]
        records.sort(key=lambda record: record.archive_order)
        index.add(number, file_of(tmp_path / f"{number}.segment", records))
    for number in range(19):
        index.remove(number)
    copy = index.copy()

    assert len(index._scopes) == 20
    assert len(copy._scopes) == 1
    assert copy.select(Reach(Scope("guest 19")), None, None).total == 3


def test_memory_goes_by_runs_and_not_by_events(tmp_path: Path) -> None:
    """Two hundred times the events of the same users, and some bytes more for every block."""
    few, many = (file_of(tmp_path / f"{size}.segment", some_records(size, users=2)) for size in (50, 10_000))

    assert index_of({1: few}).nbytes < 1_000
    assert index_of({1: many}).nbytes < 2 * 10_000


def test_threads_may_ask_while_another_adds_and_removes(files: dict[int, SegmentFile], archive: Archive) -> None:
    index = index_of({3: files[3]})
    totals = {len(archive[3]), len(archive[3]) + len(archive[11])}

    def change(_: int) -> None:
        index.add(11, files[11])
        index.remove(11)

    def ask(_: int) -> int:
        return index.select(Reach(Scope()), None, None).total

    with ThreadPoolExecutor(4) as pool:
        changes, answers = pool.map(change, range(200)), pool.map(ask, range(600))
        assert set(answers) <= totals
        list(changes)


class Changing(RuleBasedStateMachine):
    """Files come and go, and copies take the place of the index, in any order."""

    files: dict[int, SegmentFile]
    archive: Archive

    def __init__(self) -> None:
        super().__init__()
        self.index = ArchiveIndex()
        self.there: Archive = {}

    @rule(segment=st.sampled_from([3, 11, 2**40]), name=st.integers(1, 5))
    def add(self, segment: int, name: int) -> None:
        self.index.add(name, self.files[segment])
        self.there[name] = self.archive[segment]

    @rule(name=st.integers(1, 5))
    def remove(self, name: int) -> None:
        self.index.remove(name)
        self.there.pop(name, None)

    @rule()
    def copy(self) -> None:
        self.index = self.index.copy()

    @rule(scope=scopes, start=moments, end=moments)
    def select(self, scope: Scope, start: datetime | None, end: datetime | None) -> None:
        require_same(self.index, self.there, scope, start, end)

    @invariant()
    def knows_its_segments(self) -> None:
        assert self.index.segment_ids == set(self.there)


def test_whatever_comes_and_goes_index_is_that_of_what_is_there(
    files: dict[int, SegmentFile], archive: Archive
) -> None:
    machine = type("ChangingHere", (Changing,), {"files": files, "archive": archive})
    run_state_machine_as_test(
        machine, settings=settings(max_examples=examples(25), stateful_step_count=15, deadline=None)
    )


def test_a_naive_end_of_a_window_is_refused(index: ArchiveIndex) -> None:
    with pytest.raises(ValueError):
        index.select(Reach(Scope()), START.replace(tzinfo=None), None)


def test_microseconds_are_exact_at_both_ends_of_calendar() -> None:
    earliest, latest = (edge.replace(tzinfo=START.tzinfo) for edge in (datetime.min, datetime.max))  # noqa: DTZ901

    assert microseconds(latest) - microseconds(earliest) == (latest - earliest) // timedelta(microseconds=1)
