"""Background tasks of the timeline: bounded in time, and requested again when there is more to do.

Queued tasks hold these paths: a function here is neither moved nor renamed.
"""

import logging
from typing import Any

from apps.episodic.jobs import request_maintenance, request_pruning
from apps.episodic.services import (
    MaintenanceRunningError,
    forgetting_go_on,
    run_part,
    timeline_maintain,
    timeline_prune,
)

logger = logging.getLogger(__name__)

# A stopping worker finishes its task first.
SECONDS = 60.0
# For another maintenance, which mostly ends sooner.
WAIT_SECONDS = 30.0


def maintain() -> None:
    """Close, seal, archive, merge and clear away what is due: each minute, and when a segment was closed.

    Does nothing while another maintenance runs: the run of the next minute does what that one leaves.
    """
    try:
        finished = timeline_maintain(seconds=SECONDS).finished
    except MaintenanceRunningError as running:
        logger.info("timeline: %s", running.detail)
        return
    if not finished:
        request_maintenance()


def prune(resume: bool = False) -> None:
    """Remove what is expired: each day. resume: the run before did not finish. Waits for another maintenance."""
    try:
        finished = timeline_prune(seconds=SECONDS, resume=resume, wait_seconds=WAIT_SECONDS).finished
    except MaintenanceRunningError as running:
        logger.info("timeline: %s", running.detail)
        request_pruning(resume=resume)
        return
    if not finished:
        request_pruning(resume=True)


def forget(*, actor: str, user_id: str, start: str | None, end: str | None, event_type: str) -> None:
    """Remove what is left of a person's events of some time or kind, which the person asked for."""
    span = {"user_id": user_id, "start": start, "end": end, "event_type": event_type}
    forgetting_go_on(actor=actor, seconds=SECONDS, wait_seconds=WAIT_SECONDS, **span)


def work_part(*, kind: str, segment_ids: list[int], run: str, tries: int = 0) -> dict[str, Any]:
    """Do the next part of work that a person asked for in the admin; return its outcome."""
    return run_part(kind=kind, segment_ids=segment_ids, run=run, tries=tries)
