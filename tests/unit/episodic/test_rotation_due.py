"""When a segment is closed."""

from datetime import UTC, datetime, timedelta

from apps.episodic.domain.segment_state import archive_before, is_full, is_old

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def test_segment_is_full_with_as_many_arrivals_as_it_may_hold() -> None:
    assert not is_full(100, 149, 50)
    assert is_full(100, 150, 50)


def test_an_empty_segment_is_never_old() -> None:
    assert not is_old(None, NOW, 24)


def test_a_segment_is_old_by_its_first_event() -> None:
    assert not is_old(NOW - timedelta(hours=23.9), NOW, 24)
    assert is_old(NOW - timedelta(hours=24), NOW, 24)


def test_segment_may_leave_table_when_it_was_closed_long_enough_ago() -> None:
    assert archive_before(NOW, 168) == NOW - timedelta(days=7)
