"""Counting events by time and type, wherever they are kept."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.core.domain.scope import Access, Permission, Scope
from apps.episodic.domain.histogram import EventHistogram, plan_buckets
from apps.episodic.domain.segment_file.reader import BYTES_PER_EVENT, EventColumns, SegmentFile
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.domain.window import EventQuery, Window
from apps.episodic.queries import histogram as module
from apps.episodic.queries.event_list import event_list
from apps.episodic.queries.histogram import event_extent, event_histogram
from apps.episodic.store.file_cache import COLUMN_CACHE, ColumnCache
from apps.episodic.store.files import segment_place
from tests.effort import examples
from tests.integration.episodic.records import NOW
from tests.integration.episodic.timeline import SYSTEM, Timeline, draft, segments
from tests.segments import path_of, segment_path

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("timeline_dir")]

TYPES = ["message", "visit", "order"]
SCOPES = [Scope("ana"), Scope("ana", "home"), Scope("ben", "home", "chef"), Scope("cem", "office")]
BOUNDS = [Scope(), Scope("ana"), Scope(household_id="home"), Scope("dora")]
minutes = st.integers(-90, 90).map(lambda number: NOW + timedelta(minutes=number, microseconds=number % 2))


def fill(timeline: Timeline, numbers: range) -> None:
    timeline.record(
        *(
            draft(f"{number}", timestamp=NOW + timedelta(minutes=number * 7 % 180 - 90, microseconds=number % 2),
                  event_type=TYPES[number % 3], scope=SCOPES[number % 4])
            for number in numbers
        )
    )  # fmt: skip


@pytest.fixture
def timeline() -> Timeline:
    """Events in two files, in a file whose rows are leaving, and in rows."""
    made = Timeline()
    for numbers in (range(40), range(40, 60)):
        fill(made, numbers)
        made.archive()
    fill(made, range(60, 80))
    for step in (made.close, made.seal, made.flip):
        step()
    fill(made, range(80, 100))
    return made


def counted(**asked: Any) -> EventHistogram:
    return event_histogram(SYSTEM, Scope(), plan_buckets(NOW - timedelta(hours=2), NOW + timedelta(hours=2)), **asked)


def test_sums_are_those_of_the_list_whatever_is_asked(timeline: Timeline) -> None:
    @settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.sampled_from([Scope(), *SCOPES]), st.sampled_from(BOUNDS), minutes, minutes,
        st.lists(st.sampled_from(TYPES), max_size=2, unique=True), st.sampled_from([0.0, 0.25, 2.0]), st.booleans(),
    )  # fmt: skip
    def check(scope: Scope, bound: Scope, one: Any, other: Any, types: list[str], share: float, is_new: bool) -> None:
        module.WHOLE_SHARE = share
        if is_new:
            COLUMN_CACHE.forget()
        access, window = Access(bound, Permission.READ, "test"), Window(min(one, other), max(one, other))
        query = EventQuery(scope, window.start, window.end, top_k=1_000, event_types=tuple(types))
        buckets = plan_buckets(min(one, other), max(one, other) + timedelta(microseconds=1))
        page = event_list(access, query, count=True)
        found = event_histogram(access, scope, buckets, window=window, event_types=types)
        assert found.total == page.total == len(page.rows)
        expected = [[0] * buckets.count for _ in TYPES]
        for event in page.rows:
            expected[TYPES.index(event.event_type)][buckets.number_at(event.timestamp)] += 1
        assert {name: list(found.counts.get(name, [0] * buckets.count)) for name in TYPES} == dict(
            zip(TYPES, expected, strict=True)
        )

    share = module.WHOLE_SHARE
    try:
        check()
    finally:
        module.WHOLE_SHARE = share


def test_all_events_are_counted_once(timeline: Timeline) -> None:
    assert counted().total == len(timeline.model) == 100
    timeline.archive()
    assert counted().total == 100


def test_who_has_a_bound_counts_within_it(timeline: Timeline) -> None:
    access = Access(Scope(household_id="office"), Permission.READ, "key")
    buckets = plan_buckets(NOW - timedelta(hours=2), NOW + timedelta(hours=2))
    assert event_histogram(access, Scope(), buckets).total == 25
    assert event_histogram(access, Scope("ana"), buckets).total == 0
    assert event_histogram(access, Scope(household_id="home"), buckets).by_type == {}


def test_the_extent_is_that_of_rows_and_files(timeline: Timeline) -> None:
    times = [event.timestamp for event in timeline.model]
    assert event_extent(SYSTEM, Scope()) == (min(times), max(times))
    own = [event.timestamp for event in timeline.model if event.key.user_id == "cem"]
    assert event_extent(SYSTEM, Scope("cem")) == (min(own), max(own))
    assert event_extent(SYSTEM, Scope("dora")) is None
    assert event_extent(Access(Scope("ana"), Permission.READ, "key"), Scope("cem")) is None


def test_more_than_is_read_at_once_is_said(timeline: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    COLUMN_CACHE.forget()
    monkeypatch.setattr(module, "MAX_READ", 45)
    found = counted()
    assert found.since is not None
    assert found.since <= NOW + timedelta(minutes=90)
    assert 20 < found.total < 100
    # What was read is kept: the rest fits into the next one.
    counted()
    assert (counted().since, counted().total) == (None, 100)


def test_files_are_read_once_and_the_first_are_dropped(timeline: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    columns = SegmentFile.columns

    def reading(file: SegmentFile) -> EventColumns:
        read.append(path_of(file))
        return columns(file)

    monkeypatch.setattr(SegmentFile, "columns", reading)
    roomy, small = ColumnCache(), ColumnCache(max_bytes=BYTES_PER_EVENT * 50)
    for cache, times in ((roomy, 3), (small, 6)):
        read.clear()
        monkeypatch.setattr(COLUMN_CACHE, "get", lambda cache=cache: cache)
        assert counted() == counted()
        assert len(read) == times
    assert small.nbytes <= BYTES_PER_EVENT * 50


def test_a_damaged_file_is_taken_out_and_the_rest_counted(timeline: Timeline) -> None:
    COLUMN_CACHE.forget()
    damaged = segments(SegmentState.ARCHIVED)[0]
    path = segment_path(damaged.file_name)
    content = bytearray(path.read_bytes())
    content[200] ^= 255
    path.write_bytes(bytes(content))
    assert counted().total == 100 - damaged.event_count
    damaged.refresh_from_db()
    assert damaged.state == SegmentState.QUARANTINED


def test_lines_of_runs_are_those_of_the_file(timeline: Timeline) -> None:
    one = segments(SegmentState.ARCHIVED)[0]
    file = SegmentFile.open(segment_place(one.file_name), one.uuid)
    events, columns = list(file.events()), file.columns()
    assert [columns.names[kind] for kind in columns.types] == [event.event_type for event in events]
    runs = np.array([2, 0])
    assert [events[line] for line in file.lines_of(runs)] == file.read_runs([2, 0])


@pytest.mark.parametrize(
    ("scope", "index"),
    [
        (Scope(), "episodic_event_time"),
        (Scope("ana"), "episodic_event_user_time"),
        (Scope(household_id="home"), "episodic_event_household_time"),
    ],
)
def test_rows_are_counted_by_an_index_of_time(scope: Scope, index: str) -> None:
    drafts = []
    for number in range(2_000):
        whose = Scope("ana" if number % 20 == 0 else f"user-{number}", "home" if number % 30 == 0 else None)
        drafts.append(draft(f"{number}", timestamp=NOW - timedelta(minutes=number), scope=whose))
    Timeline().record(*drafts)
    buckets = plan_buckets(NOW - timedelta(minutes=50), NOW)
    reach = SYSTEM.reach(scope)
    conditions, values = module.rows_where(reach, Window(*buckets.span), [])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE episodic_timelineevent")
        cursor.execute("EXPLAIN " + module.SQL.format(**conditions), {**values, "edges": buckets.edges[:-1]})
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert index in plan
    assert "Seq Scan on episodic_timelineevent" not in plan
