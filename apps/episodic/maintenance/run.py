"""Maintenance of the timeline: what the schedule does, and the same when a person asks for it.

One run at a time. Each step is safe to repeat, and leaves nothing half done that the next run does not finish: a
process may be killed anywhere (tests/system/test_killed_maintenance.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Unpack

from django.conf import settings
from django.db.models import QuerySet

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import NotFoundError
from apps.episodic.domain.segment_state import ENDED, SegmentState, archive_before, require_step
from apps.episodic.maintenance.archive import archived_rows_drop, segment_archive, segments_to_archive
from apps.episodic.maintenance.compact import merge_groups, segments_merge
from apps.episodic.maintenance.runner import MaintenanceRunner, RunnerOptions, RunReport, health_check, maintenance_run
from apps.episodic.maintenance.seal import segment_seal
from apps.episodic.models import Segment
from apps.episodic.recording.rows import close_unless_empty, rotate_if_due
from apps.episodic.store.catalogue import remove_ended_file
from apps.episodic.store.files import list_files, remove_parts

# The files of merged and pruned segments stay so long, for readers that have begun with them.
REMOVE_AFTER = timedelta(seconds=60)
TIDY_STEPS = ("tidy: remove parts", "tidy: remove file")


@dataclass
class MaintenanceReport(RunReport):
    """What was done: numbers of segments, and of files removed. merged: how many became fewer."""

    closed: int = 0
    sealed: int = 0
    archived: int = 0
    merged: int = 0
    removed: int = 0


def timeline_maintain(
    *, clock: Clock = SYSTEM_CLOCK, wait_seconds: float = 0.0, **options: Unpack[RunnerOptions]
) -> MaintenanceReport:
    """Close, seal, archive and merge what is due, and remove files that are not needed any more.

    Raises MaintenanceRunningError when another run does not end within `wait_seconds`.
    """
    report = MaintenanceReport()
    with maintenance_run(wait_seconds, clock, **options) as runner:
        tidy(runner, report)
        report.closed += rotate_if_due(clock=clock)
        seal_closed(runner, report, Segment.objects.all())
        before = archive_before(utcnow(clock), settings.MEMORYHUB.timeline.archive_after_hours)
        report.archived += runner.run_each(
            "Archiving",
            list(segments_to_archive(before)),
            lambda segment: segment_archive(segment, clock=clock, step=runner.step),
        )
        archived_rows_drop(runner)
        merge_small(runner, report)
        health_check(clock=clock)
    runner.complete(report)
    return report


def timeline_seal(
    *,
    segment_id: int | None = None,
    clock: Clock = SYSTEM_CLOCK,
    wait_seconds: float = 0.0,
    **options: Unpack[RunnerOptions],
) -> MaintenanceReport:
    """Close the open segment now unless it is empty, and seal it and every other closed one; or only `segment_id`.

    Raises NotFoundError, ConflictError for a segment that is sealed already, MaintenanceRunningError.
    """
    chosen, report = Segment.objects.all(), MaintenanceReport()
    with maintenance_run(wait_seconds, clock, **options) as runner:
        if segment_id is not None:
            chosen = chosen.filter(pk=segment_id)
            segment = chosen.first()
            if segment is None:
                raise NotFoundError("There is no such segment.")
            if segment.state != SegmentState.OPEN:
                require_step(SegmentState(segment.state), SegmentState.SEALED)
        for segment in chosen.filter(state=SegmentState.OPEN):
            report.closed += close_unless_empty(segment, clock)
        seal_closed(runner, report, chosen)
    runner.complete(report)
    return report


def timeline_compact(
    *, clock: Clock = SYSTEM_CLOCK, wait_seconds: float = 0.0, **options: Unpack[RunnerOptions]
) -> MaintenanceReport:
    """Merge small archived segments. Raises MaintenanceRunningError."""
    report = MaintenanceReport()
    with maintenance_run(wait_seconds, clock, **options) as runner:
        archived_rows_drop(runner)
        merge_small(runner, report)
    runner.complete(report)
    return report


def tidy(runner: MaintenanceRunner, report: MaintenanceReport) -> None:
    """Remove what killed processes left half written, and the files of segments that ended a while ago."""

    def remove(_: object) -> None:
        runner.step("tidy: remove parts")
        report.removed += remove_parts()
        ended = Segment.objects.filter(state__in=ENDED, ended_at__lte=utcnow(runner.clock) - REMOVE_AFTER)
        for segment in list(ended.filter(file_name__in=list_files().segments)):
            runner.step("tidy: remove file")
            report.removed += remove_ended_file(segment)

    runner.attempt("Clearing away", [], remove)


def seal_closed(runner: MaintenanceRunner, report: MaintenanceReport, chosen: QuerySet[Segment]) -> None:
    """Seal those that are closed."""
    closed = list(chosen.filter(state=SegmentState.SEALING).order_by("closed_at", "id"))
    report.sealed += runner.run_each(
        "Sealing", closed, lambda segment: segment_seal(segment, clock=runner.clock, step=runner.step)
    )


def merge_small(runner: MaintenanceRunner, report: MaintenanceReport) -> None:
    """Merge small neighbours."""

    def merge(group: Sequence[Segment]) -> None:
        segments_merge(group, clock=runner.clock, step=runner.step)
        report.merged += len(group)

    runner.run_groups("Merging", merge_groups(), merge)
