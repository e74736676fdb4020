"""The window of a query, and the account of what was found in it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.errors import InvalidInputError
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.window import EventCounts, EventQuery, QueryAccumulator, TopEvents, Window, window_drops
from tests.integration.episodic.records import NOW, record

MOMENTS = st.integers(0, 20).map(lambda minutes: NOW + timedelta(minutes=minutes))
TYPES = ("message", "visit", "order")


def test_both_ends_of_a_window_belong_to_it() -> None:
    window = Window(NOW, NOW + timedelta(hours=1))
    assert window.contains(window.start or NOW)
    assert window.contains(window.end or NOW)
    assert not window.contains(NOW - timedelta(microseconds=1))
    assert not window.contains(NOW + timedelta(hours=1, microseconds=1))


def test_a_window_without_ends_holds_everything() -> None:
    assert Window().contains(datetime.min.replace(tzinfo=UTC))
    assert Window().contains(datetime.max.replace(tzinfo=UTC))


def test_last_days_begin_that_long_ago_and_have_no_end() -> None:
    assert EventQuery(last_days=1.5).window(NOW) == Window(NOW - timedelta(hours=36), None)


@pytest.mark.parametrize("fields", [{"start": NOW}, {"end": NOW}, {"start": NOW, "end": NOW}])
def test_last_days_and_window_exclude_each_other(fields: dict[str, datetime]) -> None:
    with pytest.raises(InvalidInputError) as refused:
        EventQuery(last_days=1, **fields).window(NOW)  # type: ignore[arg-type]
    assert refused.value.attr == "last_days"


def test_a_window_does_not_end_before_it_begins() -> None:
    with pytest.raises(InvalidInputError) as refused:
        EventQuery(start=NOW, end=NOW - timedelta(microseconds=1)).window(NOW)
    assert refused.value.attr == "from"
    assert EventQuery(start=NOW, end=NOW).window(NOW).contains(NOW)


@st.composite
def record_lists(draw: st.DrawFn) -> list[EventRecord]:
    moments = draw(st.lists(MOMENTS, max_size=30))
    return [
        record(arrival, timestamp=moment, event_type=draw(st.sampled_from(TYPES)))
        for arrival, moment in enumerate(moments, 1)
    ]


@given(record_lists(), st.integers(1, 8), st.randoms())
def test_the_newest_are_those_of_a_sorted_list(records: list[EventRecord], limit: int, order: Random) -> None:
    newest = TopEvents(limit)
    shuffled = list(records)
    order.shuffle(shuffled)
    for one in shuffled:
        before = newest.records()
        could = newest.can_take(one.timestamp)
        newest.add(one)
        assert could or newest.records() == before
    assert list(newest.records()) == sorted(records, key=lambda one: one.order, reverse=True)[:limit]


@given(
    st.lists(st.tuples(MOMENTS, st.text("a\u00e9\u20ac\U0001f600", max_size=8)), max_size=30),
    st.integers(1, 12),
    st.integers(1, 120),
    st.randoms(),
)
def test_newest_within_size_are_those_before_list_crosses_it(
    drawn: list[tuple[datetime, str]], limit: int, max_bytes: int, order: Random
) -> None:
    records = [record(number, timestamp=moment, content=text) for number, (moment, text) in enumerate(drawn, 1)]
    shown, newest = list(records), TopEvents(limit, max_bytes)
    order.shuffle(shown)
    for one in shown:
        before, could = newest.records(), newest.can_take(one.timestamp)
        newest.add(one)
        assert could or newest.records() == before
    expected: list[EventRecord] = []
    for one in sorted(records, key=lambda one: one.order, reverse=True):
        if len(expected) == limit or sum(len(each.content.encode()) for each in expected) >= max_bytes:
            break
        expected.append(one)
    assert list(newest.records()) == expected


@given(record_lists(), MOMENTS, MOMENTS, st.lists(st.sampled_from(TYPES), max_size=2), st.integers(1, 8))
def test_an_accumulator_counts_what_a_list_would(
    records: list[EventRecord], one: datetime, other: datetime, types: list[str], limit: int
) -> None:
    window = Window(min(one, other), max(one, other))
    accumulator = QueryAccumulator(window, types, limit)
    accumulator.add_uncounted(records[::2])
    accumulator.add_uncounted(records[1::2])
    inside = [record for record in records if min(one, other) <= record.timestamp <= max(one, other)]
    wanted = [record for record in inside if not types or record.event_type in types]
    assert accumulator.counts == EventCounts(len(records), len(inside), len(wanted), len(wanted))
    returned = accumulator.top.records()
    drops = window_drops(accumulator.counts, len(returned), "beyond_top_k")
    assert len(records) == len(returned) + sum(drops.values())
    assert drops["beyond_top_k"] == max(0, len(wanted) - limit)


def test_two_events_of_one_moment_and_arrival_do_not_break_order() -> None:
    newest = TopEvents(2)
    for one in (record(1), replace(record(1), content="again"), record(1)):
        newest.add(one)
    assert len(newest.records()) == 2


def test_windows_that_share_one_moment_overlap() -> None:
    hour = timedelta(hours=1)
    early, late = Window(NOW - hour, NOW), Window(NOW, NOW + hour)
    assert early.overlaps(late)
    assert late.overlaps(early)
    after = Window(NOW + timedelta(microseconds=1), NOW + hour)
    assert not early.overlaps(after)
    assert not after.overlaps(early)
