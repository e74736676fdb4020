"""MaintenanceRunner on many segments: bounded, one at a time, and no failing one keeps the others from their turn."""

import logging
import os
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePath

from django.db import connection

from apps.core.domain.clock import Clock
from apps.core.domain.deadline import Deadline
from apps.core.domain.errors import UnavailableError
from apps.core.steps import Step, no_step
from apps.episodic.domain.segment_file.format import SegmentDamagedError
from apps.episodic.domain.warnings import Severity, WarningKind
from apps.episodic.maintenance.compact import DamagedSourceError
from apps.episodic.maintenance.health_check import health_check
from apps.episodic.maintenance.progress import Watch, no_progress
from apps.episodic.models import Segment
from apps.episodic.store.catalogue import StaleSegmentError
from apps.episodic.store.disk_space import DiskNearlyFullError
from apps.episodic.store.locks import try_maintenance_lock
from apps.episodic.store.quarantine import segment_quarantine
from apps.episodic.warnings import active_warnings, warning_end, warning_report

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.1


class MaintenanceRunningError(UnavailableError):
    """Only one maintenance is at work at a time."""

    code = "maintenance_running"


@contextmanager
def maintenance_lock(wait_seconds: float = 0.0) -> Iterator[None]:
    """Be the only one who changes segments. Raises MaintenanceRunningError when another one does not end in time."""
    deadline = Deadline(wait_seconds)
    while True:
        with try_maintenance_lock() as is_alone:
            if is_alone:
                yield
                return
        if deadline.expired:
            raise MaintenanceRunningError("Another maintenance of the timeline is at work.", retry_after=60)
        time.sleep(_POLL_SECONDS)


class MaintenanceRunner:
    """One piece of maintenance. finished: False when it stopped because it had gone on for long enough.

    failures: what went wrong with which segment, without content. damaged: how many segments had damaged files.
    """

    def __init__(
        self, *, clock: Clock, seconds: float | None = None, step: Step = no_step, watch: Watch = no_progress
    ) -> None:
        self.clock, self.step, self.watch = clock, step, watch
        self.finished = True
        self.failures: list[str] = []
        self.damaged = 0
        self._deadline = Deadline(seconds)
        warned = active_warnings().filter(kind=WarningKind.MAINTENANCE_FAILED)
        self._warned: set[int | None] = set(warned.values_list("segment_id", flat=True))

    @property
    def is_over(self) -> bool:
        """Whether to stop here; from then on the work counts as unfinished."""
        self.finished = self.finished and not self._deadline.expired
        return not self.finished

    def each(self, title: str, groups: Sequence[Sequence[Segment]], do: Callable[[Sequence[Segment]], None]) -> int:
        """Do something with each group of segments; gives with how many it was done."""
        done = 0
        if not groups:
            return done
        with self.watch(title, len(groups)) as advance:
            for group in groups:
                if self.is_over:
                    break
                try:
                    done += self.attempt(title, group, do)
                except DiskNearlyFullError as error:
                    self._no_room(title, error)
                    break
                advance(1)
        return done

    def each_one(self, title: str, segments: Sequence[Segment], do: Callable[[Segment], None]) -> int:
        """The same with each segment by itself."""
        return self.each(title, [[segment] for segment in segments], lambda group: do(group[0]))

    def attempt(self, title: str, group: Sequence[Segment], do: Callable[[Sequence[Segment]], None]) -> bool:
        """Do something; True if nothing went wrong. Raises DiskNearlyFullError, and what a lost database raises."""
        try:
            do(group)
        except DiskNearlyFullError:
            raise
        except SegmentDamagedError as damage:
            self._quarantine(group[0], damage)
        except DamagedSourceError as source:
            self._quarantine(source.segment, source.damage)
        except StaleSegmentError as moved:
            logger.info("timeline: %s: %s", title, moved.detail)
        except Exception as error:
            if not connection.is_usable():
                raise
            self._fail(title, group, error)
        else:
            self._well(group)
            return True
        return False

    def _quarantine(self, segment: Segment, damage: SegmentDamagedError) -> None:
        self.damaged += segment_quarantine(segment_id=segment.pk, error=damage, clock=self.clock)
        logger.error("timeline: segment %s is damaged: %s", segment.uuid, damage)

    def _fail(self, title: str, group: Sequence[Segment], error: Exception) -> None:
        segment = group[0] if group else None
        detail = f"{title}: {describe(error)}" + (f" (segment {segment.uuid})" if segment else "")
        logger.error("timeline: %s", detail)
        self.failures.append(detail)
        warning_report(
            kind=WarningKind.MAINTENANCE_FAILED,
            severity=Severity.WARNING,
            detail=detail,
            segment=segment,
            clock=self.clock,
        )
        self._warned.add(segment.pk if segment else None)

    def _well(self, group: Sequence[Segment]) -> None:
        segments: list[Segment | None] = [*group] or [None]
        for segment in segments:
            pk = segment.pk if segment else None
            if pk in self._warned:
                warning_end(kind=WarningKind.MAINTENANCE_FAILED, segment=segment, clock=self.clock)
                self._warned.discard(pk)

    def _no_room(self, title: str, error: DiskNearlyFullError) -> None:
        logger.error("timeline: %s: %s", title, error.detail)
        self.failures.append(f"{title}: {error.detail}")
        health_check(clock=self.clock)


def describe(error: Exception) -> str:
    """Type, place and, of an error of the system, its kind. What an error says may quote what somebody wrote."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    kind = f": {os.strerror(error.errno)}" if isinstance(error, OSError) and error.errno else ""
    return f"{type(error).__name__}{place}{kind}"
