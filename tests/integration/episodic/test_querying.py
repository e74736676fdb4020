"""Windows of the timeline (spec 000, Episodic Memory Service Interface and Episodic Retrieval Controls)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import Access, Permission, Scope
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.domain.window import EventQuery, FileCounts
from apps.episodic.models import Segment
from apps.episodic.queries.query import events_query
from apps.episodic.selectors import event_beginnings
from apps.episodic.store.file_cache import reset_archive_cache
from tests.integration.episodic.records import NOW
from tests.integration.episodic.timeline import SYSTEM, Timeline, contents, draft, segments

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


@pytest.fixture
def timeline() -> Timeline:
    return Timeline()


@pytest.fixture(params=["rows", "files", "both"])
def filled(request: pytest.FixtureRequest, timeline: Timeline) -> Timeline:
    """Six events of ana's, one an hour, the latest at NOW: as rows, in files, or three of each."""
    for hours in range(6):
        kind = "message" if hours % 2 else "visit"
        timeline.record(draft(f"{hours} hours ago", timestamp=NOW - hours * HOUR, event_type=kind))
        if request.param == "files" or (request.param == "both" and hours % 2):
            timeline.archive()
    return timeline


# --- Scenario: Query episodic window ------------------------------------------------------------------


def test_query_episodic_window_gives_events_by_timestamp_descending(filled: Timeline) -> None:
    result = filled.query(start=NOW - 4 * HOUR, end=NOW - HOUR, top_k=3)
    assert contents(result) == ["1 hours ago", "2 hours ago", "3 hours ago"]


def test_query_episodic_window_includes_metadata(timeline: Timeline) -> None:
    fields: dict[str, Any] = {"event_type": "order", "importance": 0.9, "source": "shop", "metadata": {"price": 1.5}}
    timeline.record(draft("bought tea", **fields))
    hot = timeline.query().events[0]
    timeline.archive()
    archived = timeline.query().events[0]
    assert hot == archived
    assert {name: getattr(hot, name) for name in fields} == fields


def test_query_episodic_window_counts_returned_and_filtered(filled: Timeline) -> None:
    account = filled.query(start=NOW - 4 * HOUR, event_types=("visit",), top_k=2).diagnostics
    assert (account.scanned, account.returned) == (6, 2)
    assert account.dropped == {"outside_window": 1, "event_type": 2, "filter": 0, "beyond_top_k": 1}


def test_the_last_days_are_counted_back_from_now(filled: Timeline) -> None:
    assert contents(filled.query(last_days=2 / 24)) == ["0 hours ago", "1 hours ago", "2 hours ago"]


# --- Scenario: Context isolation ----------------------------------------------------------------------


@pytest.mark.parametrize("archived", [False, True])
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (Scope("ana"), {"a", "b", "c"}),
        (Scope(household_id="home"), {"b", "c", "e"}),
        (Scope(persona_id="chef"), {"c", "e"}),
        (Scope("ana", "home"), {"b", "c"}),
        (Scope("ana", "home", "chef"), {"c"}),
        (Scope(), {"a", "b", "c", "d", "e"}),
        (Scope("ana", "away"), set()),
    ],
)
def test_context_isolation(timeline: Timeline, asked: Scope, expected: set[str], archived: bool) -> None:
    scopes = {
        "a": Scope("ana"), "b": Scope("ana", "home"), "c": Scope("ana", "home", "chef"),
        "d": Scope("ben", "away"), "e": Scope("ben", "home", "chef"),
    }  # fmt: skip
    timeline.record(*[draft(name, scope=scope) for name, scope in scopes.items()])
    if archived:
        timeline.archive()
    result = timeline.query(scope=asked)
    assert set(contents(result)) == expected
    assert result.diagnostics.scanned == len(expected)


@pytest.mark.parametrize("archived", [False, True])
def test_nothing_outside_bound_of_key_is_found_or_counted(timeline: Timeline, archived: bool) -> None:
    timeline.record(draft("mine"), draft("theirs", scope=Scope("ben")))
    if archived:
        timeline.archive()
    ana = Access(Scope("ana"), Permission.READ, "key:ana")
    assert contents(timeline.query(ana)) == ["mine"]
    elsewhere, unknown = (timeline.query(ana, scope=Scope(user)) for user in ("ben", "unknown"))
    assert elsewhere.events == ()
    assert replace(elsewhere.diagnostics, took_ms=0) == replace(unknown.diagnostics, took_ms=0)
    assert elsewhere.diagnostics.scanned == 0


def test_beginnings_are_of_events_inside_bound_of_key(timeline: Timeline) -> None:
    mine, theirs = timeline.record(draft("tea at five"), draft("coffee", scope=Scope("ben")))
    ana = Access(Scope("ana"), Permission.READ, "key:ana")
    found = event_beginnings(ana, [mine.uuid, theirs.uuid], 3)
    assert [(one.uuid, one.beginning) for one in found] == [(mine.uuid, "tea")]


# --- Scenario: Window enforcement ---------------------------------------------------------------------


def test_window_enforcement_drops_what_is_outside_and_counts_it(filled: Timeline) -> None:
    account = filled.query(start=NOW - 3 * HOUR, end=NOW - 2 * HOUR).diagnostics
    assert (account.scanned, account.returned, account.dropped["outside_window"]) == (6, 2, 4)
    account = filled.query(last_days=0.5 / 24).diagnostics
    assert (account.scanned, account.returned, account.dropped["outside_window"]) == (6, 1, 5)


def test_both_ends_of_window_belong_to_it_to_microsecond(filled: Timeline) -> None:
    tick = timedelta(microseconds=1)
    assert len(filled.query(start=NOW - HOUR, end=NOW).events) == 2
    assert len(filled.query(start=NOW - HOUR + tick, end=NOW).events) == 1
    assert len(filled.query(start=NOW - HOUR, end=NOW - tick).events) == 1


@pytest.mark.parametrize("fields", [{"start": NOW, "end": NOW - HOUR}, {"start": NOW, "last_days": 1}])
def test_invalid_window_is_refused_also_out_of_bounds(fields: dict[str, Any]) -> None:
    for bound in (Scope(), Scope("ben")):
        with pytest.raises(InvalidInputError):
            events_query(Access(bound, Permission.READ, "key"), EventQuery(scope=Scope("ana"), **fields))


# --- order and counts ---------------------------------------------------------------------------------


def test_events_of_one_moment_come_in_order_of_their_arrival(timeline: Timeline) -> None:
    for content in ("first", "second", "third"):
        timeline.record(draft(content))
        timeline.archive()
    timeline.record(draft("fourth"))
    assert contents(timeline.query()) == ["fourth", "third", "second", "first"]
    timeline.merge()
    assert contents(timeline.query(top_k=3)) == ["fourth", "third", "second"]


def test_a_late_event_stands_where_it_belongs(filled: Timeline) -> None:
    filled.record(draft("late", timestamp=NOW - 2 * HOUR))
    assert contents(filled.query(top_k=4))[2:] == ["late", "2 hours ago"]


def test_an_empty_timeline_answers_with_zeros(timeline: Timeline) -> None:
    account = timeline.query().diagnostics
    assert (account.scanned, account.hot, account.archived, account.segments) == (0, 0, 0, FileCounts())
    assert set(account.dropped.values()) == {0}


@pytest.mark.parametrize("step", ["close", "seal", "flip", "drop", "merge"])
def test_each_step_of_segments_life_changes_no_answer(timeline: Timeline, step: str) -> None:
    for content in ("one", "two"):
        timeline.record(draft(content))
        for earlier in ("close", "seal", "flip", "drop"):
            if content == "one" or step == "merge":
                getattr(timeline, earlier)()
    for earlier in ("close", "seal", "flip", "drop", "merge"):
        before = timeline.query().events
        getattr(timeline, earlier)()
        assert timeline.query().events == before
        if earlier == step:
            break
    assert contents(timeline.query()) == ["two", "one"]


def test_events_are_counted_as_hot_or_archived(timeline: Timeline) -> None:
    timeline.record(draft("one"), draft("two"))
    for step, hot in (("close", 2), ("seal", 2), ("flip", 0), ("drop", 0)):
        getattr(timeline, step)()
        account = timeline.query().diagnostics
        assert (account.hot, account.archived) == (hot, 2 - hot)


# --- files --------------------------------------------------------------------------------------------


def test_files_outside_window_are_counted_unread(timeline: Timeline) -> None:
    for hours in range(3):
        timeline.record(draft(f"{hours}", timestamp=NOW - hours * HOUR))
        timeline.archive()
    account = timeline.query(end=NOW - 2 * HOUR).diagnostics
    assert account.segments == FileCounts(total=1, read=1)
    assert account.scanned == 3


def test_only_files_with_newest_events_are_read(timeline: Timeline) -> None:
    for hours in range(4):
        timeline.record(*[draft(f"{hours}:{n}", timestamp=NOW - hours * HOUR) for n in range(3)])
        timeline.archive()
    account = timeline.query(top_k=4).diagnostics
    assert account.segments == FileCounts(total=4, read=2)
    assert timeline.query(top_k=4, event_types=("visit",)).diagnostics.segments == FileCounts(total=4, read=4)


def test_files_of_others_are_neither_read_nor_counted(timeline: Timeline) -> None:
    timeline.record(draft("mine"))
    timeline.archive()
    timeline.record(draft("theirs", scope=Scope("ben")))
    timeline.archive()
    assert timeline.query(scope=Scope("ana")).diagnostics.segments == FileCounts(total=1, read=1)


def damage(segment: Segment, timeline_dir: Any, how: str) -> None:
    path = timeline_dir / segment.file_name
    content = bytearray(path.read_bytes())
    if how == "missing":
        path.unlink()
    elif how == "truncated":
        path.write_bytes(content[: len(content) // 2])
    else:
        position = 150 if how == "a byte of the data" else -40
        content[position] ^= 1
        path.write_bytes(content)


@pytest.mark.parametrize(
    ("how", "known"),
    [
        ("missing", True), ("a byte of the data", True),
        ("missing", False), ("a byte of the data", False), ("a byte of the footer", False), ("truncated", False),
    ],
)  # fmt: skip
def test_damaged_file_is_taken_out_of_service_and_rest_answers(
    timeline: Timeline, timeline_dir: Any, how: str, known: bool
) -> None:
    for content in ("one", "two", "three"):
        timeline.record(draft(content))
        timeline.archive()
    timeline.query(end=NOW - HOUR)
    if not known:
        reset_archive_cache()
    damage(segments(SegmentState.ARCHIVED)[1], timeline_dir, how)
    result = timeline.query()
    assert contents(result) == ["three", "one"]
    assert result.diagnostics.segments.quarantined == 1
    assert len(segments(SegmentState.QUARANTINED)) == 1


def test_damaged_file_whose_rows_are_still_there_costs_nothing(timeline: Timeline, timeline_dir: Any) -> None:
    timeline.record(draft("one"))
    timeline.close()
    timeline.seal()
    timeline.flip()
    damage(segments(SegmentState.ARCHIVED)[0], timeline_dir, "missing")
    result = timeline.query()
    assert contents(result) == ["one"]
    assert (result.diagnostics.hot, result.diagnostics.segments.quarantined) == (1, 0)


def test_a_replaced_file_is_not_quarantined(timeline: Timeline, timeline_dir: Any) -> None:
    for content in ("one", "two"):
        timeline.record(draft(content))
        timeline.archive()
    timeline.query()
    old = segments(SegmentState.ARCHIVED)
    timeline.merge()
    for segment in old:
        (timeline_dir / segment.file_name).unlink()
    assert contents(timeline.query()) == ["two", "one"]
    assert segments(SegmentState.QUARANTINED) == []


def test_limit_of_one_and_system_wide_query_work_together(filled: Timeline) -> None:
    assert contents(events_query(SYSTEM, EventQuery(top_k=1))) == ["0 hours ago"]
