"""The events recorded on each of the last days."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.core.domain.clock import DeterministicClock
from apps.episodic.maintenance.archive import rows_drop, segment_archive
from apps.episodic.maintenance.run import timeline_compact, timeline_seal
from apps.episodic.models import RetentionPolicy, Segment
from apps.episodic.retention.prune import timeline_prune
from apps.episodic.selectors import recorded_by_day
from tests.integration.episodic.upkeep import record

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 5, 10, 12, tzinfo=UTC)


def at(days: float) -> DeterministicClock:
    """Return a clock set to so many days before NOON."""
    return DeterministicClock(round((NOON - timedelta(days=days)).timestamp() * 1000))


def counts(**options: Any) -> list[int]:
    return list(recorded_by_day(NOON, **options).by_day.values())


def seal(days: float) -> Segment:
    timeline_seal(clock=at(days))
    return Segment.objects.filter(state="sealed").latest("pk")


def archive(segment: Segment, days: float = 0) -> None:
    segment_archive(segment, clock=at(days))
    rows_drop(segment)


def test_without_events_every_day_has_none() -> None:
    assert counts() == [0] * 7
    assert list(recorded_by_day(NOON).by_day)[-1] == NOON.date()


def test_events_count_on_day_they_were_recorded() -> None:
    record(range(3), clock=at(0), timestamp=NOON - timedelta(days=100))
    record(range(3, 5), clock=at(1))
    record([5], clock=at(6.4))
    record([6], clock=at(7))
    assert counts() == [1, 0, 0, 0, 0, 2, 3]
    assert counts(days=2) == [2, 3]
    assert recorded_by_day(NOON).total == 6


def test_sealed_segment_over_midnight_counts_by_rows() -> None:
    record(range(3), clock=at(3))
    record(range(3, 5), clock=at(2))
    seal(1)
    record([5], clock=at(1))
    assert counts() == [0, 0, 0, 3, 2, 1, 0]
    assert not recorded_by_day(NOON).is_rough


def test_archived_segments_of_one_day_count_by_catalogue() -> None:
    record(range(4), clock=at(2.1))
    archive(seal(2))
    assert counts() == [0, 0, 0, 0, 4, 0, 0]
    assert not recorded_by_day(NOON).is_rough


def test_archived_segment_over_midnight_counts_roughly() -> None:
    record(range(3), clock=at(3))
    record(range(3, 5), clock=at(2))
    archive(seal(1))
    assert counts() == [0, 0, 0, 0, 0, 5, 0]
    assert recorded_by_day(NOON).is_rough


def test_merging_counts_nothing_twice() -> None:
    for days in (2, 1):
        record([days], clock=at(days + 0.1))
        archive(seal(days))
    timeline_compact(clock=at(0))
    assert Segment.objects.filter(state="archived").count() == 1
    assert counts() == [0, 0, 0, 0, 1, 1, 0]


def test_what_was_deleted_since_was_still_recorded() -> None:
    record(range(3), clock=at(2.1), timestamp=NOON - timedelta(days=100))
    record([3], clock=at(2.1), timestamp=NOON - timedelta(days=3))
    archive(seal(2))
    RetentionPolicy.objects.update(is_enabled=True, days=30)
    timeline_prune(clock=at(0))
    assert counts() == [0, 0, 0, 0, 4, 0, 0]
