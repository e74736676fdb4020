"""Work on segments that a person asked for, done in the background part by part."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from apps.episodic.maintenance import jobs
from apps.episodic.maintenance.doctor import DoctorReport, FindingKind, timeline_doctor
from apps.episodic.maintenance.jobs import (
    JobKind,
    JobMessage,
    JobStatus,
    MessageSeverity,
    enqueue_job,
    run_part,
    run_status,
)
from apps.episodic.maintenance.runner import MaintenanceRunningError
from apps.episodic.models import Segment
from tests.integration.episodic.upkeep import a_sealed_segment, an_archived_segment, contents, expected, record, states
from tests.integration.episodic.workers import work_off
from tests.segments import segment_path

pytestmark = pytest.mark.django_db


def done(kind: JobKind, *segments: Segment) -> JobStatus:
    """Ask for work and have it done."""
    run = enqueue_job(kind=kind, segment_ids=[segment.pk for segment in segments])
    work_off()
    return run_status(run)


def said(status: JobStatus) -> list[tuple[str, str]]:
    """Return the severity and the text of each message."""
    return [(line.severity.value, line.text) for line in status.messages]


def flip_a_byte(segment: Segment) -> None:
    path = segment_path(segment.file_name)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def open_segment() -> Segment:
    return Segment.objects.get(state="open")


def test_run_is_not_begun_before_worker_takes_it() -> None:
    run = enqueue_job(kind=JobKind.CHECK)
    assert run_status(run) == JobStatus()
    assert not run_status(run).finished


def test_another_run_is_another_story() -> None:
    done(JobKind.CHECK)
    assert run_status(uuid4()) == JobStatus()


# Sealing


def test_the_open_segment_is_closed_and_sealed() -> None:
    record(range(5))
    segment = open_segment()
    status = done(JobKind.SEAL, segment)
    segment.refresh_from_db()
    assert (segment.state, status.finished, status.kind) == ("sealed", True, JobKind.SEAL)
    assert said(status) == [("good", f"Sealed: 5 events in {segment.size_bytes:,} bytes.")]
    assert [line.subject for line in status.messages] == [str(segment.uuid)]


def test_open_segment_that_holds_nothing_stays_open() -> None:
    a_sealed_segment(range(2))
    assert said(done(JobKind.SEAL, open_segment())) == [("good", "It holds nothing, so it stays open.")]


def test_everything_that_is_closed_is_sealed() -> None:
    record(range(3))
    assert said(done(JobKind.SEAL)) == [("good", "1 segment was sealed.")]
    assert said(done(JobKind.SEAL)) == [("good", "Nothing was there to seal.")]
    assert states() == ["sealed", "open"]


def test_segment_that_is_sealed_already_is_refused_with_reason() -> None:
    segment = a_sealed_segment(range(3))
    assert said(done(JobKind.SEAL, segment)) == [("bad", "A segment that is sealed cannot become sealed.")]


# Verifying


def test_sound_files_are_reported_one_by_one() -> None:
    segments = [an_archived_segment(range(3)), a_sealed_segment(range(3, 5))]
    status = done(JobKind.VERIFY, *segments)
    assert [line.subject for line in status.messages] == [str(segment.uuid) for segment in segments]
    assert said(status) == [
        ("good", f"Sound: {segment.event_count} events, {segment.size_bytes:,} bytes.") for segment in segments
    ]


def test_while_some_are_left_run_says_how_many() -> None:
    segments = [a_sealed_segment([number]) for number in range(3)]
    run = enqueue_job(kind=JobKind.VERIFY, segment_ids=[segment.pk for segment in segments])
    work_off(1)
    status = run_status(run)
    assert (len(status.messages), status.left, status.finished) == (1, 2, False)
    work_off()
    status = run_status(run)
    assert (len(status.messages), status.left, status.finished) == (3, 0, True)


def test_damaged_archived_file_is_taken_out_of_service() -> None:
    segment = an_archived_segment(range(5))
    flip_a_byte(segment)
    [(severity, text)] = said(done(JobKind.VERIFY, segment))
    assert severity == "bad"
    assert text.startswith("Damaged: ")
    assert states() == ["quarantined", "open"]


def test_damaged_file_whose_rows_are_there_costs_nothing() -> None:
    segment = a_sealed_segment(range(5))
    flip_a_byte(segment)
    [(severity, text)] = said(done(JobKind.VERIFY, segment))
    assert severity == "bad"
    assert text.endswith("Its rows are all there, and are sealed again.")
    assert states() == ["sealing", "open"]


def test_file_that_was_put_back_is_in_service_again() -> None:
    segment = an_archived_segment(range(5))
    good = segment_path(segment.file_name).read_bytes()
    flip_a_byte(segment)
    done(JobKind.VERIFY, segment)
    segment_path(segment.file_name).write_bytes(good)
    [(severity, text)] = said(done(JobKind.VERIFY, segment))
    assert (severity, text.startswith("Back in service: 5 events")) == ("good", True)
    assert contents() == expected(range(5))


def test_a_segment_without_a_file_is_not_verified() -> None:
    record([1])
    assert said(done(JobKind.VERIFY, open_segment())) == [("good", "It is open: there is no file to verify.")]


def test_segment_that_is_gone_keeps_no_other_from_its_turn() -> None:
    segment = a_sealed_segment(range(3))
    run = enqueue_job(kind=JobKind.VERIFY, segment_ids=[0, segment.pk])
    work_off()
    assert [line.severity for line in run_status(run).messages] == [MessageSeverity.BAD, MessageSeverity.GOOD]


# The whole timeline


def test_small_segments_are_merged() -> None:
    an_archived_segment(range(3))
    an_archived_segment(range(3, 6))
    assert said(done(JobKind.COMPACT)) == [("good", "2 small segments became fewer.")]
    assert contents() == expected(range(6))
    assert said(done(JobKind.COMPACT)) == [("good", "There are no small segments side by side to merge.")]


def test_merging_that_takes_long_goes_on_in_another_task(monkeypatch: pytest.MonkeyPatch) -> None:
    an_archived_segment(range(3))
    an_archived_segment(range(3, 6))
    monkeypatch.setattr(jobs, "PART_SECONDS", 0.0)
    run = enqueue_job(kind=JobKind.COMPACT)
    work_off(1)
    assert not run_status(run).finished
    monkeypatch.setattr(jobs, "PART_SECONDS", 60.0)
    work_off()
    assert run_status(run).finished
    assert states().count("archived") == 1


def test_checking_says_what_is_sound_and_what_is_wrong_and_changes_nothing(timeline_dir: Path) -> None:
    good, bad = an_archived_segment(range(3)), an_archived_segment(range(3, 6))
    flip_a_byte(bad)
    (timeline_dir / "notes.txt").write_text("hello")
    before = states()
    status = done(JobKind.CHECK)
    assert [(line.severity.value, line.subject) for line in status.messages] == [
        ("good", ""), ("bad", str(bad.uuid)), ("warn", "notes.txt"),
    ]  # fmt: skip
    assert status.messages[0].text == f"1 segment is sound: 3 events, {good.size_bytes:,} bytes."
    assert status.messages[1].text.startswith("Its file is damaged. ")
    assert "A file that does not belong here." in status.messages[2].text
    assert states() == before


def test_repairing_puts_right_what_can_be_put_right() -> None:
    segment = a_sealed_segment(range(5))
    flip_a_byte(segment)
    status = done(JobKind.REPAIR)
    assert [(line.severity.value, line.subject) for line in status.messages] == [
        ("good", ""),
        ("good", str(segment.uuid)),
    ]
    assert status.messages[1].text.endswith("Repaired.")
    assert contents() == expected(range(5))


def test_what_a_repair_could_not_save_is_counted() -> None:
    segment = an_archived_segment(range(1_000))
    flip_a_byte(segment)
    status = done(JobKind.REPAIR)
    lost = 1_000 - sum(contents().values())
    assert 0 < lost < 1_000
    assert status.messages[1].text.endswith(f"Repaired. {lost} events are lost.")
    assert status.messages[1].severity is MessageSeverity.BAD


def test_whatever_the_doctor_finds_has_its_words() -> None:
    assert jobs.FINDING_TEXTS.keys() == set(FindingKind)


# What goes wrong


def busy(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let another maintenance be at work for so many tries."""
    left = [times]

    def doctor(**options: Any) -> DoctorReport:
        left[0] -= 1
        if left[0] >= 0:
            raise MaintenanceRunningError("The timeline is already being maintained.")
        return timeline_doctor(**options)

    monkeypatch.setattr(jobs, "timeline_doctor", doctor)


def test_work_waits_for_another_maintenance_and_is_done_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    busy(3, monkeypatch)
    run = enqueue_job(kind=JobKind.CHECK)
    work_off(3)
    assert (run_status(run).messages, run_status(run).finished) == ((), False)
    work_off()
    assert said(run_status(run)) == [("good", "0 segments are sound: 0 events, 0 bytes.")]


def test_an_endless_maintenance_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    busy(1_000, monkeypatch)
    status = done(JobKind.CHECK)
    assert status.messages == (JobMessage("The timeline is already being maintained.", MessageSeverity.BAD),)
    assert status.finished


def test_a_task_that_fails_ends_the_run_as_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    segments = [a_sealed_segment([number]) for number in range(2)]
    run = enqueue_job(kind=JobKind.VERIFY, segment_ids=[segment.pk for segment in segments])
    work_off(1)

    def fail(**options: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(jobs, "segment_verify", fail)
    work_off()
    status = run_status(run)
    assert (status.failed, status.finished, len(status.messages)) == (True, False, 1)


def test_a_part_that_is_done_twice_does_no_harm() -> None:
    record(range(3))
    segment = open_segment()
    for _ in range(2):
        run_part(kind="seal", segment_ids=[segment.pk], run=str(uuid4()))
    assert contents() == expected(range(3))


def test_what_is_kept_of_a_run_is_bounded(monkeypatch: pytest.MonkeyPatch, timeline_dir: Path) -> None:
    monkeypatch.setattr(jobs, "MAX_MESSAGES", 3)
    timeline_dir.mkdir(exist_ok=True)
    for number in range(5):
        (timeline_dir / f"{number}.txt").write_text("hello")
    lines = done(JobKind.CHECK).messages
    assert len(lines) == 4
    assert lines[-1].text == "and 3 more."
