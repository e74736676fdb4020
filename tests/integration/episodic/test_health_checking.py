"""What maintenance looks at every minute."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from apps.core.domain.clock import DeterministicClock, to_datetime
from apps.episodic.domain.alarms import Severity, WarningKind
from apps.episodic.maintenance import runner
from apps.episodic.maintenance.runner import health_check
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.selectors import timeline_figures
from apps.episodic.warnings import active_warnings, warning_report

pytestmark = pytest.mark.django_db

START = 1_770_000_000_000
NOW = to_datetime(START)


@pytest.fixture
def clock() -> DeterministicClock:
    return DeterministicClock(START)


@pytest.fixture(autouse=True)
def _limits(settings: Any) -> None:
    timeline = replace(settings.MEMORYHUB.timeline, max_rows=10, min_free_mb=1)
    settings.MEMORYHUB = replace(settings.MEMORYHUB, timeline=timeline)


def active() -> dict[str, str]:
    return dict(active_warnings().values_list("kind", "severity"))


def segment_of(count: int, state: str = "open", **columns: Any) -> Segment:
    """A segment with rows."""
    segment = Segment.objects.create(state=state, opened_at=NOW, **columns)
    TimelineEvent.objects.bulk_create(
        TimelineEvent(
            user_id="ana", timestamp=NOW, event_type="message", content="tea", identity=uuid4(), recorded_at=NOW,
            segment=segment,
        )
        for _ in range(count)
    )  # fmt: skip
    return segment


def file_columns(count: int) -> dict[str, Any]:
    return {"event_count": count, "size_bytes": 100 * count, "sha256": "x", "file_name": str(uuid4())}


def test_a_hub_that_is_well_has_no_warnings(clock: DeterministicClock) -> None:
    segment_of(9)
    health_check(clock=clock)
    assert active() == {}


def test_disk_that_is_nearly_full_is_warning_until_there_is_room(
    clock: DeterministicClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for free, expected in [(0.9, Severity.WARNING), (0.1, Severity.CRITICAL), (1.1, Severity.CRITICAL), (1.3, None)]:
        monkeypatch.setattr(runner, "free_mb", lambda: free)  # noqa: B023  (called before it changes)
        health_check(clock=clock)
        assert active().get(WarningKind.DISK_NEARLY_FULL) == expected


def test_too_many_rows_are_warning_until_they_are_archived(clock: DeterministicClock) -> None:
    segment = segment_of(11)
    health_check(clock=clock)
    assert active() == {WarningKind.CAPACITY: Severity.WARNING}
    assert active_warnings().get().detail == "11 events wait to be archived; there should be at most 10."
    segment.events.filter(pk__in=list(segment.events.values_list("pk", flat=True)[:2])).delete()
    health_check(clock=clock)
    assert active() == {}


def test_slow_writes_are_over_after_two_quiet_minutes(clock: DeterministicClock) -> None:
    warning_report(kind=WarningKind.WRITE_LATENCY, severity=Severity.WARNING, detail="slow", clock=clock)
    clock.advance(119_999)
    health_check(clock=clock)
    assert active() == {WarningKind.WRITE_LATENCY: Severity.WARNING}
    clock.advance(1)
    health_check(clock=clock)
    assert active() == {}


def test_figures_count_rows_where_they_are_truth_and_files_where_those_are() -> None:
    segment_of(3)
    segment_of(2, "sealing")
    segment_of(4, "sealed", **file_columns(4))
    segment_of(5, "archived", rows="leaving", **file_columns(6))
    segment_of(0, "archived", rows="gone", **file_columns(7))
    segment_of(0, "compacted", rows="gone", **file_columns(8))
    segment_of(0, "quarantined", rows="gone", **file_columns(9))
    segment_of(0, "pruned", rows="gone", ended_at=NOW - timedelta(days=1), **file_columns(10))
    figures = timeline_figures()
    assert (figures.hot, figures.archived, figures.unreadable, figures.archive_bytes) == (9, 13, 9, 1_300)
    assert figures.segments == {
        "open": 1, "sealing": 1, "sealed": 1, "archived": 2, "compacted": 1, "quarantined": 1, "pruned": 1,
    }  # fmt: skip
