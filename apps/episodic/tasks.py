"""What django-q2 runs for the timeline: bounded in time, and asked for again when there is more to do.

What a schedule brings round leaves when another maintenance is at work; what a person asked for waits its turn.
"""

import logging
from collections.abc import Callable
from typing import TypeVar

from apps.core.domain.scope import Scope, system_access
from apps.episodic.doctor import segment_verify
from apps.episodic.maintaining import timeline_compact, timeline_maintain, timeline_seal
from apps.episodic.pruning import timeline_prune
from apps.episodic.purging import events_purge
from apps.episodic.queue import request, request_maintenance
from apps.episodic.working import MaintenanceRunningError

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
# A stopping worker finishes its task first.
SECONDS = 60.0
WAIT_SECONDS = 30.0


def maintain() -> None:
    """Each minute, and when a segment was closed: close, seal, archive, merge and clear away what is due."""
    try:
        finished = timeline_maintain(seconds=SECONDS).finished
    except MaintenanceRunningError as running:
        logger.info("timeline: %s", running.detail)
        return
    if not finished:
        request_maintenance()


def prune(resume: bool = False) -> None:
    """Each day: remove what is expired. resume: the run before did not finish."""
    report = _in_turn(lambda: timeline_prune(seconds=SECONDS, resume=resume, wait_seconds=WAIT_SECONDS))
    if report is None:
        request("prune", resume=resume)
    elif not report.finished:
        request("prune", resume=True)


def seal(segment_id: int | None = None) -> None:
    """Close and seal a segment, or whatever is open or closed."""
    if _in_turn(lambda: timeline_seal(segment_id=segment_id, wait_seconds=WAIT_SECONDS)) is None:
        request("seal", segment_id=segment_id)


def verify(segment_id: int) -> None:
    """Read the file of a segment from end to end."""
    if _in_turn(lambda: segment_verify(segment_id=segment_id, wait_seconds=WAIT_SECONDS)) is None:
        request("verify", segment_id=segment_id)


def compact() -> None:
    """Merge small archived segments."""
    report = _in_turn(lambda: timeline_compact(seconds=SECONDS, wait_seconds=WAIT_SECONDS))
    if report is None or not report.finished:
        request("compact")


def purge(user_id: str, household_id: str | None, persona_id: str | None, actor: str) -> None:
    """Remove all events of a scope for good."""
    scope, access = Scope(user_id, household_id, persona_id), system_access(actor)
    report = _in_turn(lambda: events_purge(access=access, scope=scope, seconds=SECONDS, wait_seconds=WAIT_SECONDS))
    if report is None or not report.finished:
        request("purge", user_id=user_id, household_id=household_id, persona_id=persona_id, actor=actor)


def _in_turn(work: Callable[[], Result]) -> Result | None:
    """What the work gives; None when another maintenance went on for all the time that a task may wait."""
    try:
        return work()
    except MaintenanceRunningError as running:
        logger.info("timeline: %s", running.detail)
        return None
