"""When a sync should run: spec 003, sync triggers."""

from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.errors import InvalidInputError
from apps.sync.domain.triggers import (
    MAX_DURATION_SECONDS,
    ShouldSync,
    TriggerFacts,
    format_duration,
    parse_duration,
    retry_delay,
    should_sync,
)
from tests.unit.sync.examples import NOW

HOUR = timedelta(hours=1)
STALE = TriggerFacts(last_sync_at=NOW - 7 * HOUR, staleness_seconds=parse_duration("6h"))


def answer(now=NOW, **facts):
    found = should_sync(TriggerFacts(**facts), now)
    return found.should, found.reason


@pytest.mark.parametrize(
    ("ago", "should"), [(7 * HOUR, True), (6 * HOUR + timedelta(seconds=1), True), (6 * HOUR, False), (HOUR, False)]
)
def test_evaluate_staleness_threshold(ago, should):
    facts = {"last_sync_at": NOW - ago, "staleness_seconds": parse_duration("6h")}
    assert answer(**facts) == ((True, "threshold") if should else (False, "manual"))


def test_a_source_that_is_not_stale_yet_says_when_it_is():
    found = should_sync(TriggerFacts(last_sync_at=NOW - HOUR, staleness_seconds=6 * 3_600), NOW)
    assert found.due_at == NOW + 5 * HOUR


@pytest.mark.parametrize(("sessions", "should"), [(9, False), (10, True), (11, True)])
def test_evaluate_session_threshold(sessions, should):
    facts = {"last_sync_at": NOW, "session_threshold": 10, "sessions_since_sync": sessions}
    assert answer(**facts) == ((True, "threshold") if should else (False, "manual"))


def test_no_trigger_met():
    facts = {"last_sync_at": NOW - HOUR, "staleness_seconds": 7_200, "session_threshold": 10, "sessions_since_sync": 9}
    assert answer(**facts) == (False, "manual")
    assert answer(last_sync_at=NOW - 9_000 * HOUR, sessions_since_sync=99) == (False, "manual")
    assert answer() == (False, "manual")


def test_a_source_that_was_never_synced_is_due_by_any_trigger():
    assert answer(staleness_seconds=3_600) == (True, "threshold")
    assert answer(session_threshold=10) == (True, "threshold")
    assert answer(daily_at=time(3, 0)) == (True, "scheduled")


@pytest.mark.parametrize(
    ("last", "should", "due_at"),
    [
        (datetime(2026, 11, 23, 2, 59, tzinfo=UTC), True, datetime(2026, 11, 23, 3, 0, tzinfo=UTC)),
        (datetime(2026, 11, 23, 3, 0, tzinfo=UTC), False, datetime(2026, 11, 24, 3, 0, tzinfo=UTC)),
        (datetime(2026, 11, 23, 11, 0, tzinfo=UTC), False, datetime(2026, 11, 24, 3, 0, tzinfo=UTC)),
    ],
)
def test_a_daily_sync_runs_once_a_day_at_its_time_in_utc(last, should, due_at):
    found = should_sync(TriggerFacts(last_sync_at=last, daily_at=time(3, 0)), NOW)
    assert (found.should, found.reason, found.due_at) == (should, "scheduled" if should else "manual", due_at)


def test_a_daily_time_later_today_was_last_due_yesterday():
    facts = {"last_sync_at": NOW - 12 * HOUR, "daily_at": time(18, 0)}
    assert answer(**facts) == (False, "manual")
    assert answer(now=NOW.astimezone(UTC) + 6 * HOUR, **facts) == (True, "scheduled")


@pytest.mark.parametrize(
    ("facts", "reason"), [({"is_enabled": False}, "disabled"), ({"paused": "Taken back."}, "paused")]
)
def test_a_source_that_is_disabled_or_paused_is_not_synced(facts, reason):
    found = should_sync(TriggerFacts(staleness_seconds=60, has_more=True, retries=1, **facts), NOW)
    assert (found.should, found.reason) == (False, reason)


def test_a_source_that_failed_is_tried_again_after_a_while_whatever_its_triggers():
    waits = should_sync(TriggerFacts(retries=2, next_try_at=NOW + HOUR, staleness_seconds=60, has_more=True), NOW)
    assert (waits.should, waits.reason, waits.due_at) == (False, "backoff", NOW + HOUR)
    assert answer(now=NOW + HOUR, retries=2, next_try_at=NOW + HOUR) == (True, "retry")


def test_a_sync_that_left_items_is_continued():
    assert answer(last_sync_at=NOW, has_more=True) == (True, "remaining")


def test_a_last_sync_in_the_future_keeps_no_sync_away():
    assert answer(last_sync_at=NOW + 9_000 * HOUR, staleness_seconds=3_600) == (True, "threshold")
    assert answer(last_sync_at=NOW + HOUR / 60, staleness_seconds=3_600) == (False, "manual")


def test_retries_wait_a_minute_doubled_up_to_an_hour():
    minutes = [retry_delay(failures) // timedelta(minutes=1) for failures in (1, 2, 3, 6, 7, 8, 1_000_000)]
    assert minutes == [1, 2, 4, 32, 60, 60, 60]


@pytest.mark.parametrize(
    ("text", "seconds"), [("6h", 21_600), ("45s", 45), ("90m", 5_400), (" 2D ", 172_800), ("1d12h", 129_600)]
)
def test_a_duration_is_read(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "6", "h", "0s", "-1h", "6 h", "1.5h", "6w", "٦h", "9999d", "9" * 5_000 + "s"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(InvalidInputError) as refused:
        parse_duration(text, "staleness")
    assert refused.value.attr == "staleness"


@given(st.integers(1, MAX_DURATION_SECONDS))
def test_a_duration_is_written_as_it_is_read(seconds):
    assert parse_duration(format_duration(seconds)) == seconds


PAST = st.timedeltas(-48 * HOUR, 0 * HOUR).map(lambda delta: NOW + delta)
FUTURE = st.timedeltas(HOUR, 48 * HOUR).map(lambda delta: NOW + delta)
MOMENTS = st.none() | PAST | FUTURE
COUNTS = st.none() | st.integers(1, 100_000)


@given(
    st.builds(
        TriggerFacts,
        last_sync_at=MOMENTS,
        sessions_since_sync=st.integers(0, 20),
        staleness_seconds=COUNTS,
        session_threshold=COUNTS,
        daily_at=st.none() | st.times(),
        next_try_at=MOMENTS,
    )
)
def test_what_is_due_later_is_due_then_and_not_before(facts):
    found = should_sync(facts, NOW)
    assert isinstance(found, ShouldSync)
    assert found.detail
    if not found.should and found.reason == "manual" and found.due_at:
        assert found.due_at >= NOW
        assert should_sync(facts, found.due_at + timedelta(microseconds=1)).should
        assert not should_sync(facts, found.due_at - timedelta(microseconds=1)).should
