"""Looking after the timeline: what comes round by itself, and the same things asked for by a person.

One at a time, whoever asks. Each step is safe to repeat and leaves nothing half done that the next maintenance does not
finish: a process may be killed anywhere (tests/episodic/test_killed_maintenance.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import NotFoundError
from apps.core.steps import Step, no_step
from apps.episodic.domain.rotation import archive_before
from apps.episodic.domain.segment_state import ENDED, SegmentState, require_step
from apps.episodic.maintenance.archive import rows_drop, segment_archive, segments_to_archive, segments_to_drop
from apps.episodic.maintenance.compact import merge_groups, segments_merge
from apps.episodic.maintenance.health_check import health_check
from apps.episodic.maintenance.progress import Watch, no_progress
from apps.episodic.maintenance.runner import MaintenanceRunner, maintenance_lock
from apps.episodic.maintenance.seal import segment_seal
from apps.episodic.models import Segment
from apps.episodic.recording.rotation import close_unless_empty, rotate_if_due
from apps.episodic.store.files import list_files, remove_parts
from apps.episodic.store.quarantine import remove_ended_file

# The files of merged and pruned segments stay so long, for readers that have begun with them.
REMOVE_AFTER = timedelta(seconds=60)
TIDY_STEPS = ("tidy: remove parts", "tidy: remove file")


@dataclass
class MaintenanceReport:
    """What was done: numbers of segments, and of files removed. merged: how many became fewer.

    finished: False when it stopped because it had gone on for long enough; then it should be called again.
    """

    closed: int = 0
    sealed: int = 0
    archived: int = 0
    merged: int = 0
    removed: int = 0
    damaged: int = 0
    failures: list[str] = field(default_factory=list)
    finished: bool = True


def timeline_maintain(
    *,
    clock: Clock = SYSTEM_CLOCK,
    seconds: float | None = None,
    step: Step = no_step,
    watch: Watch = no_progress,
    wait_seconds: float = 0.0,
) -> MaintenanceReport:
    """Close, seal, archive and merge what is due, and clear away what is not needed any more.

    seconds: begin with nothing new after so long. step: is told the name of each step before it is taken.
    Raises MaintenanceRunningError when another one is at work for longer than `wait_seconds`.
    """
    with maintenance_lock(wait_seconds):
        run = _Maintenance(MaintenanceRunner(clock=clock, seconds=seconds, step=step, watch=watch))
        run.tidy()
        run.rotate()
        run.seal(Segment.objects.all())
        run.archive(archive_before(utcnow(clock), settings.MEMORYHUB.timeline.archive_after_hours))
        run.drop()
        run.merge()
        health_check(clock=clock)
    return run.close()


def timeline_seal(
    *,
    segment_id: int | None = None,
    clock: Clock = SYSTEM_CLOCK,
    step: Step = no_step,
    watch: Watch = no_progress,
    wait_seconds: float = 0.0,
) -> MaintenanceReport:
    """Close the open segment now unless it is empty, and seal it, and every other closed one; or only the one given.

    Raises NotFoundError, ConflictError for a segment that is sealed already, MaintenanceRunningError.
    """
    chosen = Segment.objects.all() if segment_id is None else Segment.objects.filter(pk=segment_id)
    with maintenance_lock(wait_seconds):
        if segment_id is not None:
            _require_sealable(chosen)
        run = _Maintenance(MaintenanceRunner(clock=clock, step=step, watch=watch))
        run.close_now(chosen)
        run.seal(chosen)
    return run.close()


def timeline_compact(
    *,
    clock: Clock = SYSTEM_CLOCK,
    seconds: float | None = None,
    step: Step = no_step,
    watch: Watch = no_progress,
    wait_seconds: float = 0.0,
) -> MaintenanceReport:
    """Merge small archived segments. Raises MaintenanceRunningError."""
    with maintenance_lock(wait_seconds):
        run = _Maintenance(MaintenanceRunner(clock=clock, seconds=seconds, step=step, watch=watch))
        run.drop()
        run.merge()
    return run.close()


def _require_sealable(chosen: QuerySet[Segment]) -> None:
    segment = chosen.first()
    if segment is None:
        raise NotFoundError("There is no such segment.")
    if segment.state != SegmentState.OPEN:
        require_step(SegmentState(segment.state), SegmentState.SEALED)


class _Maintenance:
    def __init__(self, work: MaintenanceRunner) -> None:
        self._work = work
        self._report = MaintenanceReport()

    def close(self) -> MaintenanceReport:
        """What was done."""
        work, report = self._work, self._report
        report.damaged, report.failures, report.finished = work.damaged, work.failures, work.finished
        return report

    def tidy(self) -> None:
        """Remove what killed processes left half written, and the files of segments that ended a while ago."""

        def remove(_: object) -> None:
            self._work.step("tidy: remove parts")
            self._report.removed += remove_parts()
            for segment in self._ended_with_files():
                self._work.step("tidy: remove file")
                self._report.removed += remove_ended_file(segment)

        self._work.attempt("Clearing away", [], remove)

    def _ended_with_files(self) -> list[Segment]:
        ended = Segment.objects.filter(state__in=ENDED, ended_at__lte=utcnow(self._work.clock) - REMOVE_AFTER)
        return list(ended.filter(file_name__in=list_files().segments))

    def rotate(self) -> None:
        self._report.closed += rotate_if_due(clock=self._work.clock)

    def close_now(self, chosen: QuerySet[Segment]) -> None:
        for segment in chosen.filter(state=SegmentState.OPEN):
            self._report.closed += close_unless_empty(segment, self._work.clock)

    def seal(self, chosen: QuerySet[Segment]) -> None:
        work = self._work
        closed = list(chosen.filter(state=SegmentState.SEALING).order_by("closed_at", "id"))
        self._report.sealed += work.each_one(
            "Sealing", closed, lambda segment: segment_seal(segment, clock=work.clock, step=work.step)
        )

    def archive(self, before: datetime) -> None:
        work = self._work
        self._report.archived += work.each_one(
            "Archiving",
            list(segments_to_archive(before)),
            lambda segment: segment_archive(segment, clock=work.clock, step=work.step),
        )

    def drop(self) -> None:
        work = self._work
        work.each_one(
            "Removing archived rows", list(segments_to_drop()), lambda segment: rows_drop(segment, step=work.step)
        )

    def merge(self) -> None:
        work = self._work

        def merge(group: Sequence[Segment]) -> None:
            segments_merge(group, clock=work.clock, step=work.step)
            self._report.merged += len(group)

        work.each("Merging", merge_groups(), merge)
