"""Small segments become fewer, beside live writes (spec 000, Snapshot and compaction)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import psutil
import pytest

from apps.episodic.domain.alarms import WarningKind
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.maintenance import compact
from apps.episodic.maintenance.compact import merge_groups, segments_merge
from apps.episodic.maintenance.run import timeline_compact
from apps.episodic.models import Segment
from apps.episodic.store.catalogue import segment_quarantine
from apps.episodic.warnings import active_warnings
from tests.integration.episodic.upkeep import (
    START,
    an_archived_segment,
    archived,
    clock_at,
    contents,
    expected,
    files,
    maintain,
    record,
    states,
)
from tests.segments import segment_path

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small(settings: Any) -> None:
    """Segments of at most 20 events."""
    hub = settings.MEMORYHUB
    settings.MEMORYHUB = replace(hub, timeline=replace(hub.timeline, segment_events=20))


def an_archive(*parts: range) -> list[Segment]:
    return [an_archived_segment(part) for part in parts]


def test_scenario_snapshot_and_compaction_small_segments_become_one() -> None:
    sources = an_archive(range(5), range(5, 9), range(9, 15))
    report = timeline_compact(clock=clock_at(days=1))
    assert report.merged == 3
    [merged] = Segment.objects.filter(state="archived")
    assert (merged.event_count, merged.rows) == (15, "gone")
    assert (merged.first_timestamp, merged.last_timestamp) == (START, START + timedelta(minutes=14))
    assert contents() == expected(range(15))
    assert set(Segment.objects.filter(state="compacted").values_list("pk", "replaced_by")) == {
        (source.pk, merged.pk) for source in sources
    }


def test_what_is_merged_is_what_was_there() -> None:
    an_archive(range(0, 9, 2), range(1, 9, 2))
    before = sorted(archived(), key=lambda event: event.archive_order)
    timeline_compact(clock=clock_at())
    assert archived() == before


def test_files_of_merged_segments_stay_for_those_who_are_reading_them() -> None:
    an_archive(range(5), range(5, 9))
    timeline_compact(clock=clock_at())
    assert len(files()) == 3
    maintain(days=59 / 86_400)
    assert len(files()) == 3
    assert maintain(days=60 / 86_400).removed == 2
    assert len(files()) == 1
    assert contents() == expected(range(9))


def test_segment_that_is_half_full_is_left_alone() -> None:
    an_archive(range(10), range(10, 15))
    assert timeline_compact(clock=clock_at()).merged == 0
    assert states() == ["archived", "archived", "open"]


def test_writing_goes_on_while_segments_are_merged() -> None:
    an_archive(range(5), range(5, 9))
    steps: list[str] = []

    def write(step: str) -> None:
        steps.append(step)
        record([1_000 + len(steps)])

    timeline_compact(clock=clock_at(), step=write)
    assert {"merge: read", "write", "verify", "rename", "replace: flip"} <= set(steps)
    assert contents() == expected([*range(9), *range(1_001, 1_001 + len(steps))])


def test_damaged_segment_is_not_merged_and_keeps_no_other_from_it() -> None:
    first, *_ = an_archive(range(5), range(5, 9), range(9, 12))
    path = segment_path(first.file_name)
    path.write_bytes(path.read_bytes()[:-7])
    report = timeline_compact(clock=clock_at())
    assert (report.merged, report.damaged) == (0, 1)
    first.refresh_from_db()
    assert (first.state, first.damage.split(":")[0]) == ("quarantined", "truncated")
    assert timeline_compact(clock=clock_at()).merged == 2
    assert contents() == expected(range(5, 12))
    assert [warning.segment for warning in active_warnings()] == [first]


def test_what_fails_leaves_nothing_behind_and_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    an_archive(range(5), range(5, 9))
    before = files()

    def full(*arguments: Any) -> None:
        raise OSError(28, "words that must not be logged")

    with monkeypatch.context() as patch:
        patch.setattr(compact, "write_segment", full)
        report = timeline_compact(clock=clock_at())
    assert report.merged == 0
    assert report.failures == [failure for failure in report.failures if "No space left on device" in failure]
    assert "words" not in report.failures[0]
    assert (files(), contents()) == (before, expected(range(9)))
    assert [warning.kind for warning in active_warnings()] == [WarningKind.MAINTENANCE_FAILED]
    assert states() == ["archived", "archived", "open", "pruned"]
    assert timeline_compact(clock=clock_at()).merged == 2
    assert not active_warnings().exists()


def test_one_failing_merge_does_not_keep_others_from_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    an_archive(range(5), range(5, 9), range(9, 19), range(19, 24), range(24, 28))
    write = compact.write_segment
    failing = [OSError(5, "")]

    def fail_once(*arguments: Any) -> Any:
        if failing:
            raise failing.pop()
        return write(*arguments)

    monkeypatch.setattr(compact, "write_segment", fail_once)
    report = timeline_compact(clock=clock_at())
    assert (report.merged, len(report.failures)) == (2, 1)
    assert contents() == expected(range(28))


def test_one_that_changes_while_it_is_merged_stays_as_it_is() -> None:
    first, second = an_archive(range(5), range(5, 9))

    def damage(step: str) -> None:
        if step == "replace: flip":
            segment_quarantine(segment_id=second.pk, error=SegmentDamagedError(Damage.CHECKSUM, "bad"))

    report = timeline_compact(clock=clock_at(), step=damage)
    assert report.merged == 0
    assert states() == ["archived", "quarantined", "open", "pruned"]
    assert files() == {first.file_name, second.file_name}


def test_merge_that_would_lose_event_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    an_archive(range(5), range(5, 9))
    events = SegmentFile.events
    monkeypatch.setattr(SegmentFile, "events", lambda file: iter(list(events(file))[1:]))
    report = timeline_compact(clock=clock_at())
    assert (report.merged, len(report.failures)) == (0, 1)
    assert states()[:2] == ["archived", "archived"]


def test_merging_is_bounded_in_time_and_goes_on_later() -> None:
    an_archive(range(5), range(5, 9), range(9, 19), range(19, 24), range(24, 28))
    report = timeline_compact(clock=clock_at(), seconds=0)
    assert (report.merged, report.finished) == (0, False)
    assert timeline_compact(clock=clock_at(), seconds=60).finished


def test_with_disk_that_is_nearly_full_nothing_is_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    an_archive(range(5), range(5, 9))
    monkeypatch.setattr("apps.episodic.store.files.free_mb", lambda: 1.0)
    assert timeline_compact(clock=clock_at()).merged == 0
    assert states() == ["archived", "archived", "open"]


def test_no_descriptor_stays_open() -> None:
    an_archive(*(range(n * 2, n * 2 + 2) for n in range(8)))
    before = psutil.Process().num_fds()
    timeline_compact(clock=clock_at())
    assert psutil.Process().num_fds() == before


def test_merging_the_same_group_twice_is_refused() -> None:
    an_archive(range(5), range(5, 9))
    [group] = merge_groups()
    stale = [Segment.objects.get(pk=segment.pk) for segment in group]
    assert segments_merge(group, clock=clock_at()) is not None
    with pytest.raises(Exception, match="not archived any more"):
        segments_merge(stale, clock=clock_at())
    assert contents() == expected(range(9))
