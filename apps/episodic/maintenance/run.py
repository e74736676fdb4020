"""Maintenance of the timeline: what the schedule does, and the same when a person asks for it.

One run at a time. Each step is safe to repeat, and leaves nothing half done that the next run does not finish: a
process may be killed anywhere (tests/system/test_killed_maintenance.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import NotFoundError
from apps.core.steps import Step, no_step
from apps.episodic.domain.rotation import archive_before
from apps.episodic.domain.segment_state import ENDED, SegmentState, require_step
from apps.episodic.maintenance.archive import archived_rows_drop, segment_archive, segments_to_archive
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

    finished: False when the run stopped because its time was over; then it should be called again.
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
    """Close, seal, archive and merge what is due, and remove files that are not needed any more.

    seconds: begin with nothing new after so long. step: called with the name of each step before it is taken.
    Raises MaintenanceRunningError when another run does not end within `wait_seconds`.
    """
    with maintenance_lock(wait_seconds):
        run = Maintenance(clock=clock, seconds=seconds, step=step, watch=watch)
        run.tidy()
        run.report.closed += rotate_if_due(clock=clock)
        run.seal(Segment.objects.all())
        run.archive(archive_before(utcnow(clock), settings.MEMORYHUB.timeline.archive_after_hours))
        archived_rows_drop(run.runner)
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
    """Close the open segment now unless it is empty, and seal it and every other closed one; or only `segment_id`.

    Raises NotFoundError, ConflictError for a segment that is sealed already, MaintenanceRunningError.
    """
    chosen = Segment.objects.all() if segment_id is None else Segment.objects.filter(pk=segment_id)
    with maintenance_lock(wait_seconds):
        if segment_id is not None:
            segment = chosen.first()
            if segment is None:
                raise NotFoundError("There is no such segment.")
            if segment.state != SegmentState.OPEN:
                require_step(SegmentState(segment.state), SegmentState.SEALED)
        run = Maintenance(clock=clock, step=step, watch=watch)
        for segment in chosen.filter(state=SegmentState.OPEN):
            run.report.closed += close_unless_empty(segment, clock)
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
        run = Maintenance(clock=clock, seconds=seconds, step=step, watch=watch)
        archived_rows_drop(run.runner)
        run.merge()
    return run.close()


class Maintenance:
    """The kinds of work of a run, with the report that they fill."""

    def __init__(self, **options: Any) -> None:
        self.runner = MaintenanceRunner(**options)
        self.report = MaintenanceReport()

    def close(self) -> MaintenanceReport:
        """Return what was done."""
        runner, report = self.runner, self.report
        report.damaged, report.failures, report.finished = runner.damaged, runner.failures, runner.finished
        return report

    def tidy(self) -> None:
        """Remove what killed processes left half written, and the files of segments that ended a while ago."""
        runner = self.runner

        def remove(_: object) -> None:
            runner.step("tidy: remove parts")
            self.report.removed += remove_parts()
            ended = Segment.objects.filter(state__in=ENDED, ended_at__lte=utcnow(runner.clock) - REMOVE_AFTER)
            for segment in list(ended.filter(file_name__in=list_files().segments)):
                runner.step("tidy: remove file")
                self.report.removed += remove_ended_file(segment)

        runner.attempt("Clearing away", [], remove)

    def seal(self, chosen: QuerySet[Segment]) -> None:
        """Seal those that are closed."""
        runner = self.runner
        closed = list(chosen.filter(state=SegmentState.SEALING).order_by("closed_at", "id"))
        self.report.sealed += runner.run_each(
            "Sealing", closed, lambda segment: segment_seal(segment, clock=runner.clock, step=runner.step)
        )

    def archive(self, before: datetime) -> None:
        """Archive sealed segments that were closed at this moment or earlier."""
        runner = self.runner
        self.report.archived += runner.run_each(
            "Archiving",
            list(segments_to_archive(before)),
            lambda segment: segment_archive(segment, clock=runner.clock, step=runner.step),
        )

    def merge(self) -> None:
        """Merge small neighbours."""
        runner = self.runner

        def merge(group: Sequence[Segment]) -> None:
            segments_merge(group, clock=runner.clock, step=runner.step)
            self.report.merged += len(group)

        runner.run_groups("Merging", merge_groups(), merge)
