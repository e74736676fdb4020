"""Holding everything that is kept of the timeline against everything else, and repairing what can be repaired."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

from django.db import connection, transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import NotFoundError
from apps.core.steps import Step, no_step
from apps.episodic.domain.segment_file.format import SegmentDamagedError
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.segment_state import ENDED, SegmentState
from apps.episodic.maintenance.progress import Watch, no_progress
from apps.episodic.maintenance.remove import DuplicateRow, rows_delete
from apps.episodic.maintenance.repair import find_duplicate_rows, segment_repair
from apps.episodic.maintenance.run import REMOVE_AFTER
from apps.episodic.maintenance.runner import describe, maintenance_lock
from apps.episodic.maintenance.seal import segment_seal
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.store.catalogue import segment_step
from apps.episodic.store.files import list_files, remove_parts, set_aside
from apps.episodic.store.quarantine import remove_ended_file, segment_quarantine
from apps.episodic.store.verify import file_verify

WAIT_SECONDS = 60.0


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
    """What was looked at, and what was wrong."""

    segments: int = 0
    events: int = 0
    size_bytes: int = 0
    findings: list[DoctorFinding] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def is_well(self) -> bool:
        """Whether nothing is wrong (any more)."""
        return not self.failures and all(finding.repaired for finding in self.findings)

    @property
    def lost(self) -> int:
        """Events that are lost for good, of what was repaired."""
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
    """Verify every segment and every file; without `repair` nothing is changed but when a file was last verified.

    Repairs: rows that are all there are sealed again; a damaged file is replaced by what can be read of it, and set
    aside; one that is good again is put back in service; files that nobody knows are set aside; what killed processes
    left is removed. give_up: with `repair`, also end segments of which nothing can be read.
    Raises MaintenanceRunningError.
    """
    with maintenance_lock(wait_seconds):
        visit = _Visit(clock, step, watch, repair=repair, give_up=give_up)
        visit.look_at_segments()
        visit.look_at_files()
    return visit.report


def segment_verify(*, segment_id: int, clock: Clock = SYSTEM_CLOCK, wait_seconds: float = WAIT_SECONDS) -> Segment:
    """Read a segment's file from end to end: out of service with a damaged one, and back with one that is good again.

    A segment that has no file, or whose file nobody reads, is left as it is; gives the segment as it is then.
    Raises NotFoundError, MaintenanceRunningError.
    """
    with maintenance_lock(wait_seconds):
        segment = Segment.objects.filter(pk=segment_id).first()
        if segment is None:
            raise NotFoundError("There is no such segment.")
        try:
            if segment.state in _WITH_FILE:
                file_verify(segment)
                Segment.objects.filter(pk=segment.pk).update(checked_at=utcnow(clock))
            if segment.state == SegmentState.QUARANTINED:
                file_verify(segment)
                segment_repair(segment, clock=clock)
        except SegmentDamagedError as damage:
            segment_quarantine(segment_id=segment.pk, error=damage, clock=clock)
    return Segment.objects.get(pk=segment_id)


_WITH_FILE = frozenset({SegmentState.SEALED, SegmentState.ARCHIVED})


class _Visit:
    def __init__(self, clock: Clock, step: Step, watch: Watch, *, repair: bool, give_up: bool) -> None:
        self._clock, self._step, self._watch = clock, step, watch
        self._repair, self._give_up = repair, give_up
        self.report = DoctorReport()

    def look_at_segments(self) -> None:
        """Each file against the catalogue and against the rows."""
        states = [*_WITH_FILE, SegmentState.QUARANTINED]
        segments = list(Segment.objects.filter(state__in=states).order_by("first_timestamp", "id"))
        with self._watch("Verifying", len(segments)) as advance:
            for segment in segments:
                try:
                    self._look_at(segment)
                except Exception as error:
                    # One that cannot be looked at keeps no other from being looked at.
                    if not connection.is_usable():
                        raise
                    self.report.failures.append(f"Segment {segment.uuid}: {describe(error)}")
                advance(1)

    def _look_at(self, segment: Segment) -> None:
        if segment.state == SegmentState.QUARANTINED:
            self._find(FindingKind.DAMAGED, str(segment.uuid), segment.damage, lambda: self._mend(segment))
            return
        try:
            file = file_verify(segment)
        except SegmentDamagedError as error:
            damage = error
            self._find(FindingKind.DAMAGED, str(segment.uuid), str(damage), lambda: self._replace(segment, damage))
            return
        self.report.segments += 1
        self.report.events += file.summary.event_count
        self.report.size_bytes += file.summary.size_bytes
        Segment.objects.filter(pk=segment.pk).update(checked_at=utcnow(self._clock))
        if segment.state == SegmentState.SEALED:
            self._compare_rows(segment)
        else:
            self._look_for_rows(segment, file)

    def _compare_rows(self, segment: Segment) -> None:
        rows = TimelineEvent.objects.filter(segment=segment).count()
        if rows != segment.event_count:
            detail = f"It has {rows} rows, and its file {segment.event_count} events."
            self._find(FindingKind.ROWS_DIFFER, str(segment.uuid), detail, lambda: self._seal_again(segment))

    def _look_for_rows(self, segment: Segment, file: SegmentFile) -> None:
        twice = find_duplicate_rows(segment, file)
        if twice:
            detail = f"{len(twice)} of its events are there as rows, too."
            self._find(FindingKind.RECORDED_TWICE, str(segment.uuid), detail, lambda: _delete(twice, self._clock))

    def _replace(self, segment: Segment, damage: SegmentDamagedError) -> int:
        segment_quarantine(segment_id=segment.pk, error=damage, clock=self._clock)
        segment.refresh_from_db()
        if segment.state == SegmentState.SEALING:
            segment_seal(segment, clock=self._clock, step=self._step)
            return 0
        return self._mend(segment)

    def _mend(self, segment: Segment) -> int:
        return segment_repair(segment, clock=self._clock, give_up=self._give_up, step=self._step).lost

    def _seal_again(self, segment: Segment) -> int:
        with transaction.atomic():
            segment_step(segment, SegmentState.SEALING, clock=self._clock, sha256="")
        segment_seal(segment, clock=self._clock, step=self._step)
        return 0

    def look_at_files(self) -> None:
        """Files that nobody knows, that nobody needs any more, and that are none of ours."""
        files = list_files()
        known = {one.file_name: one for one in Segment.objects.filter(file_name__in=files.segments)}
        for name in files.segments:
            if name not in known:
                self._find(FindingKind.UNKNOWN_FILE, name, "No segment has this file.", partial(_aside, name))
            elif self._is_over(known[name]):
                detail = f"Its segment was {known[name].state}."
                self._find(FindingKind.LEFT_OVER, name, detail, partial(_clear, known[name]))
        for name in files.parts:
            self._find(FindingKind.LEFT_OVER, name, "It was not finished.", _remove_parts)
        for name in files.others:
            self.report.findings.append(
                DoctorFinding(FindingKind.STRANGE_FILE, name, "It is no segment; nothing reads it.")
            )

    def _is_over(self, segment: Segment) -> bool:
        ended = segment.ended_at
        return segment.state in ENDED and ended is not None and ended <= utcnow(self._clock) - REMOVE_AFTER

    def _find(self, kind: FindingKind, subject: str, detail: str, repair: Callable[[], int]) -> None:
        """Note what is wrong, and with `repair` put it right; `repair` gives how many events are lost by it."""
        if not self._repair:
            self.report.findings.append(DoctorFinding(kind, subject, detail))
            return
        try:
            lost = repair()
        except SegmentDamagedError as damage:
            self.report.findings.append(DoctorFinding(kind, subject, str(damage)))
        except Exception:
            self.report.findings.append(DoctorFinding(kind, subject, detail))
            raise
        else:
            self.report.findings.append(DoctorFinding(kind, subject, detail, repaired=True, lost=lost))


def _delete(rows: Sequence[DuplicateRow], clock: Clock) -> int:
    rows_delete(rows, clock)
    return 0


def _aside(name: str) -> int:
    set_aside(name)
    return 0


def _clear(segment: Segment) -> int:
    remove_ended_file(segment)
    return 0


def _remove_parts() -> int:
    remove_parts()
    return 0
