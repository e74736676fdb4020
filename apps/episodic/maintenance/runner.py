"""Running maintenance on many segments: bounded in time, one run at once, and a failing segment stops no other."""

import logging
import os
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TypedDict, Unpack

from django.conf import settings
from django.db import connection

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.deadline import Deadline
from apps.core.domain.errors import UnavailableError
from apps.core.object_storage.bucket import StoreError
from apps.core.steps import Step, no_step
from apps.episodic.domain.alarms import Severity, WarningKind, assess_capacity, assess_space, is_quiet
from apps.episodic.domain.segment_file.format import SegmentDamagedError
from apps.episodic.maintenance.compact import DamagedSourceError
from apps.episodic.models import Segment
from apps.episodic.selectors import timeline_figures
from apps.episodic.store.catalogue import StaleSegmentError, segment_quarantine, try_maintenance_lock
from apps.episodic.store.files import DiskNearlyFullError, free_mb
from apps.episodic.warnings import active_warnings, refresh_warning_metrics, warning_end, warning_report

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.1
# Takes how many items were finished since the last call.
Advance = Callable[[int], None]
# Takes a title and the number of items, and shows how many are finished: `apps.core.terminal.progress_bar`.
Watch = Callable[[str, int], AbstractContextManager[Advance]]


@contextmanager
def no_progress(title: str, total: int) -> Iterator[Advance]:
    """Show no progress."""
    yield lambda _: None


class MaintenanceRunningError(UnavailableError):
    """Only one maintenance runs at a time."""

    code = "maintenance_running"


@contextmanager
def maintenance_lock(wait_seconds: float = 0.0) -> Iterator[None]:
    """Hold the lock under which segments change. Raises MaintenanceRunningError when another run keeps it too long."""
    deadline = Deadline(wait_seconds)
    while True:
        with try_maintenance_lock() as is_held:
            if is_held:
                yield
                return
        if deadline.expired:
            raise MaintenanceRunningError("The timeline is already being maintained.", retry_after=60)
        time.sleep(POLL_SECONDS)


class RunnerOptions(TypedDict, total=False):
    """seconds: begin with nothing new after so long. step: called with the name of each step before it is taken."""

    seconds: float | None
    step: Step
    watch: Watch


@dataclass
class RunReport:
    """What went wrong in a run: failures with their segments, without content, and the number of damaged files.

    finished: False when the run stopped because its time was over; then it should be called again.
    """

    damaged: int = 0
    failures: list[str] = field(default_factory=list)
    finished: bool = True


class MaintenanceRunner:
    """One run of maintenance, of which everything that it does has to be done under the lock."""

    def __init__(
        self, *, clock: Clock, seconds: float | None = None, step: Step = no_step, watch: Watch = no_progress
    ) -> None:
        self.clock, self.step, self.watch = clock, step, watch
        self.finished = True
        self.failures: list[str] = []
        self.damaged = 0
        self._deadline = Deadline(seconds)
        failing = active_warnings().filter(kind=WarningKind.MAINTENANCE_FAILED)
        self._failing: set[int | None] = set(failing.values_list("segment_id", flat=True))

    def complete(self, report: RunReport) -> None:
        """Write down in a report what went wrong."""
        report.damaged, report.failures, report.finished = self.damaged, self.failures, self.finished

    @property
    def should_stop(self) -> bool:
        """Return whether the time is over; from then on the run counts as unfinished."""
        self.finished = self.finished and not self._deadline.expired
        return not self.finished

    def run_groups(
        self, title: str, groups: Sequence[Sequence[Segment]], do: Callable[[Sequence[Segment]], None]
    ) -> int:
        """Do something with each group of segments. Return for how many groups it succeeded."""
        done = 0
        if not groups:
            return done
        with self.watch(title, len(groups)) as advance:
            for group in groups:
                if self.should_stop:
                    break
                try:
                    done += self.attempt(title, group, do)
                except DiskNearlyFullError as error:
                    logger.error("timeline: %s: %s", title, error.detail)
                    self.failures.append(f"{title}: {error.detail}")
                    health_check(clock=self.clock)
                    break
                advance(1)
        return done

    def run_each(self, title: str, segments: Sequence[Segment], do: Callable[[Segment], None]) -> int:
        """Do something with each segment. Return for how many it succeeded."""
        return self.run_groups(title, [[segment] for segment in segments], lambda group: do(group[0]))

    def attempt(self, title: str, group: Sequence[Segment], do: Callable[[Sequence[Segment]], None]) -> bool:
        """Do something; return whether it succeeded. Raises DiskNearlyFullError, and the error of a lost database."""
        try:
            do(group)
        except DiskNearlyFullError:
            raise
        except SegmentDamagedError as damage:
            self.quarantine(group[0], damage)
        except DamagedSourceError as source:
            self.quarantine(source.segment, source.damage)
        except StaleSegmentError as stale:
            logger.info("timeline: %s: %s", title, stale.detail)
        except Exception as error:
            if not connection.is_usable():
                raise
            self.report_failure(title, group, error)
        else:
            segments: list[Segment | None] = [*group] or [None]
            for segment in segments:
                pk = segment.pk if segment else None
                if pk in self._failing:
                    warning_end(kind=WarningKind.MAINTENANCE_FAILED, segment=segment, clock=self.clock)
                    self._failing.discard(pk)
            return True
        return False

    def quarantine(self, segment: Segment, damage: SegmentDamagedError) -> None:
        """Take a segment with a damaged file out of service, and count it."""
        self.damaged += segment_quarantine(segment_id=segment.pk, error=damage, clock=self.clock)
        logger.error("timeline: segment %s is damaged: %s", segment.uuid, damage)

    def report_failure(self, title: str, group: Sequence[Segment], error: Exception) -> None:
        """Log a failure, keep it for the report, and warn about the first segment of the group."""
        segment = group[0] if group else None
        detail = f"{title}: {describe_error(error)}" + (f" (segment {segment.uuid})" if segment else "")
        logger.error("timeline: %s", detail)
        self.failures.append(detail)
        warning_report(
            kind=WarningKind.MAINTENANCE_FAILED,
            severity=Severity.WARNING,
            detail=detail,
            segment=segment,
            clock=self.clock,
        )
        self._failing.add(segment.pk if segment else None)


@contextmanager
def maintenance_run(wait_seconds: float, clock: Clock, **options: Unpack[RunnerOptions]) -> Iterator[MaintenanceRunner]:
    """Hold the lock, and yield the runner of one run. Raises MaintenanceRunningError."""
    with maintenance_lock(wait_seconds):
        yield MaintenanceRunner(clock=clock, **options)


def describe_error(error: Exception) -> str:
    """Return type, place and kind of a system error. The message is left out: it may quote what a user wrote."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    kind = f": {os.strerror(error.errno)}" if isinstance(error, OSError) and error.errno else ""
    if isinstance(error, StoreError):
        kind = f": {error.strerror}"
    return f"{type(error).__name__}{place}{kind}"


def health_check(*, clock: Clock = SYSTEM_CLOCK) -> None:
    """Report a disk that is nearly full and a table that is too long, and end the warnings that are over."""
    # Slow writes are reported by the processes that write; when none does so any more the warning is over.
    slow = active_warnings().filter(kind=WarningKind.WRITE_LATENCY).first()
    if slow and is_quiet(slow.last_seen_at, utcnow(clock)):
        warning_end(kind=WarningKind.WRITE_LATENCY, clock=clock)
    limits = settings.MEMORYHUB.timeline
    free, rows = free_mb(), timeline_figures().hot
    space = f"{free:.0f} MiB are free where the data directory lies; there should be {limits.min_free_mb} MiB."
    capacity = f"{rows} events wait to be archived; there should be at most {limits.max_rows}."
    for kind, assessment, detail in (
        (WarningKind.DISK_NEARLY_FULL, assess_space(free, limits.min_free_mb), space),
        (WarningKind.CAPACITY, assess_capacity(rows, limits.max_rows), capacity),
    ):
        if assessment.severity is not None:
            warning_report(kind=kind, severity=assessment.severity, detail=detail, clock=clock)
        elif assessment.is_relieved:
            warning_end(kind=kind, clock=clock)
    refresh_warning_metrics()
