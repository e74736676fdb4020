"""Comparing all that is kept of the timeline: catalogue, rows and files; and repairing what can be repaired."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial

from django.db import connection, transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import NotFoundError
from apps.core.steps import Step, no_step
from apps.episodic.domain.segment_file.format import SegmentDamagedError
from apps.episodic.domain.segment_state import ENDED, SegmentState
from apps.episodic.maintenance.repair import RepairResult, delete_duplicate_rows, find_duplicate_rows, segment_repair
from apps.episodic.maintenance.run import REMOVE_AFTER
from apps.episodic.maintenance.runner import Watch, describe_error, maintenance_lock, no_progress
from apps.episodic.maintenance.seal import segment_seal
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.store.catalogue import (
    file_open,
    file_verify,
    remove_ended_file,
    segment_quarantine,
    segment_step,
)
from apps.episodic.store.files import list_files, remove_parts, set_aside

WAIT_SECONDS = 60.0
WITH_FILE = frozenset({SegmentState.SEALED, SegmentState.ARCHIVED})


class FindingKind(StrEnum):
    """What can be wrong."""

    DAMAGED = "damaged"
    ROWS_DIFFER = "rows_differ"
    RECORDED_TWICE = "recorded_twice"
    UNKNOWN_FILE = "unknown_file"
    LEFT_OVER = "left_over"
    STRANGE_FILE = "strange_file"


@dataclass(frozen=True)
class DoctorFinding:
    """subject: the id of a segment or the name of a file. repaired: whether it is right now. lost: events for good."""

    kind: FindingKind
    subject: str
    detail: str
    repaired: bool = False
    lost: int = 0


@dataclass
class DoctorReport:
    """What was sound, and what was wrong."""

    segments: int = 0
    events: int = 0
    size_bytes: int = 0
    findings: list[DoctorFinding] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def is_healthy(self) -> bool:
        """Return whether nothing is wrong (any more)."""
        return not self.failures and all(finding.repaired for finding in self.findings)

    @property
    def lost(self) -> int:
        """Return how many events are lost for good, of what was repaired."""
        return sum(finding.lost for finding in self.findings)


def timeline_doctor(
    *,
    repair: bool = False,
    give_up: bool = False,
    clock: Clock = SYSTEM_CLOCK,
    step: Step = no_step,
    watch: Watch = no_progress,
    wait_seconds: float = WAIT_SECONDS,
) -> DoctorReport:
    """Verify every segment and every file. Without `repair`, only the time of the last verification is changed.

    Repairs: rows that are all there are sealed again; a damaged file is replaced by what can be read of it, and set
    aside; one that is good again is put back in service; unknown files are set aside; what killed processes left is
    removed. give_up: with `repair`, also end segments of which nothing can be read.
    Raises MaintenanceRunningError.
    """
    with maintenance_lock(wait_seconds):
        examination = Examination(clock, step, is_repairing=repair, give_up=give_up)
        examination.examine_segments(watch)
        examination.examine_files()
    return examination.report


def segment_verify(*, segment_id: int, clock: Clock = SYSTEM_CLOCK, wait_seconds: float = WAIT_SECONDS) -> Segment:
    """Read a segment's file from end to end: quarantine a damaged one, and put back one that is good again.

    A segment that has no file, or whose file is not read any more, is left as it is. Return the segment as it is then.
    Raises NotFoundError, MaintenanceRunningError.
    """
    with maintenance_lock(wait_seconds):
        segment = Segment.objects.filter(pk=segment_id).first()
        if segment is None:
            raise NotFoundError("There is no such segment.")
        try:
            if segment.state in WITH_FILE:
                file_verify(segment)
                Segment.objects.filter(pk=segment.pk).update(checked_at=utcnow(clock))
            if segment.state == SegmentState.QUARANTINED:
                file_verify(segment)
                segment_repair(segment, clock=clock)
        except SegmentDamagedError as damage:
            segment_quarantine(segment_id=segment.pk, error=damage, clock=clock)
    return Segment.objects.get(pk=segment_id)


def timeline_examine(
    *, thorough: bool, clock: Clock = SYSTEM_CLOCK, watch: Watch = no_progress, wait_seconds: float = WAIT_SECONDS
) -> DoctorReport:
    """Compare every segment with its file, and change nothing, not even the time of the last verification.

    thorough: verify every byte of each file, and look for its events among the rows; otherwise its tables are compared.
    Raises MaintenanceRunningError, and UnavailableError for the folder of another hub.
    """
    with maintenance_lock(wait_seconds):
        examination = Examination(clock, no_step, is_thorough=thorough, is_noting=False)
        examination.examine_segments(watch)
        examination.examine_files()
    return examination.report


class Examination:
    """One visit of the doctor, under the maintenance lock. is_noting: when a file was verified is kept."""

    def __init__(
        self,
        clock: Clock,
        step: Step,
        *,
        is_repairing: bool = False,
        give_up: bool = False,
        is_thorough: bool = True,
        is_noting: bool = True,
    ) -> None:
        self._clock, self._step = clock, step
        self._is_repairing, self._give_up = is_repairing, give_up
        self._is_thorough, self._is_noting = is_thorough, is_noting
        self.report = DoctorReport()

    def examine_segments(self, watch: Watch) -> None:
        """Compare each file with the catalogue and with the rows."""
        states = [*WITH_FILE, SegmentState.QUARANTINED]
        segments = list(Segment.objects.filter(state__in=states).order_by("first_timestamp", "id"))
        with watch("Verifying", len(segments)) as advance:
            for segment in segments:
                try:
                    self.examine_segment(segment)
                except Exception as error:
                    # One that cannot be examined does not stop the others.
                    if not connection.is_usable():
                        raise
                    self.report.failures.append(f"Segment {segment.uuid}: {describe_error(error)}")
                advance(1)

    def examine_segment(self, segment: Segment) -> None:
        """Compare one file with the catalogue and with the rows."""
        subject, report = str(segment.uuid), self.report
        if segment.state == SegmentState.QUARANTINED:
            self.record(FindingKind.DAMAGED, subject, segment.damage, partial(self.repair, segment))
            return
        try:
            file = file_verify(segment) if self._is_thorough else file_open(segment)
        except SegmentDamagedError as damage:
            self.record(FindingKind.DAMAGED, subject, str(damage), partial(self.repair_damaged, segment, damage))
            return
        report.segments += 1
        report.events += file.summary.event_count
        report.size_bytes += file.summary.size_bytes
        if self._is_noting:
            Segment.objects.filter(pk=segment.pk).update(checked_at=utcnow(self._clock))
        if segment.state == SegmentState.SEALED:
            rows = TimelineEvent.objects.filter(segment=segment).count()
            if rows != segment.event_count:
                detail = f"It has {rows} rows, and its file {segment.event_count} events."
                self.record(FindingKind.ROWS_DIFFER, subject, detail, partial(self.seal_again, segment))
        elif self._is_thorough and (twice := find_duplicate_rows(segment, file)):
            detail = f"{len(twice)} of its events are there as rows, too."
            delete = partial(delete_duplicate_rows, twice, self._clock)
            self.record(FindingKind.RECORDED_TWICE, subject, detail, delete)

    def examine_files(self) -> None:
        """Find files that no segment has, files that are not needed any more, and files that are no segments."""
        files = list_files()
        known = {one.file_name: one for one in Segment.objects.filter(file_name__in=files.segments)}
        removable = utcnow(self._clock) - REMOVE_AFTER
        for name in files.segments:
            segment = known.get(name)
            if segment is None:
                self.record(FindingKind.UNKNOWN_FILE, name, "No segment has this file.", partial(set_aside, name))
            elif segment.state in ENDED and segment.ended_at is not None and segment.ended_at <= removable:
                detail = f"Its segment was {segment.state}."
                self.record(FindingKind.LEFT_OVER, name, detail, partial(remove_ended_file, segment))
        for name in files.parts:
            self.record(FindingKind.LEFT_OVER, name, "It was not finished.", remove_parts)
        for name in files.others:
            finding = DoctorFinding(FindingKind.STRANGE_FILE, name, "It is no segment; nothing reads it.")
            self.report.findings.append(finding)

    def record(self, kind: FindingKind, subject: str, detail: str, repair: Callable[[], object]) -> None:
        """Add a finding to the report, after `repair` if this examination repairs."""
        finding = DoctorFinding(kind, subject, detail)
        try:
            if self._is_repairing:
                result = repair()
                lost = result.lost if isinstance(result, RepairResult) else 0
                finding = replace(finding, repaired=True, lost=lost)
        except SegmentDamagedError as damage:
            finding = replace(finding, detail=str(damage))
        finally:
            self.report.findings.append(finding)

    def repair(self, segment: Segment) -> RepairResult:
        """Put a segment in quarantine back in service, as far as it can be read."""
        return segment_repair(segment, clock=self._clock, give_up=self._give_up, step=self._step)

    def repair_damaged(self, segment: Segment, damage: SegmentDamagedError) -> RepairResult | None:
        """Repair a segment that is found damaged: from its rows if they are all there."""
        segment_quarantine(segment_id=segment.pk, error=damage, clock=self._clock)
        segment.refresh_from_db()
        if segment.state != SegmentState.SEALING:
            return self.repair(segment)
        segment_seal(segment, clock=self._clock, step=self._step)
        return None

    def seal_again(self, segment: Segment) -> None:
        """Write a new file from the rows of a sealed segment."""
        with transaction.atomic():
            segment_step(segment, SegmentState.SEALING, clock=self._clock, sha256="")
        segment_seal(segment, clock=self._clock, step=self._step)
