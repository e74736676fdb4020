"""Reverting more decisions than a request has time for: batch after batch in the background."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from apps.core.domain.scope import system_access
from apps.core.jobs import BackgroundJob
from apps.semantic.conflicts.bulk_revert import Selection, conflicts_revert

TASK = "apps.semantic.tasks.revert_conflicts"
TASK_NAME = "semantic.revert_conflicts"
# Of one task: enough to explain, and small enough for a row of results.
KEPT_REASONS = 50
JOB = BackgroundJob(TASK, "revert")


@dataclass(frozen=True)
class RevertStatus:
    """How far a run is. refused: of how many; reasons: of the first ones, by the id of their receipts."""

    reverted: int = 0
    refused: int = 0
    reasons: tuple[tuple[str, str], ...] = ()
    finished: bool = False
    failed: bool = False


def enqueue_revert(*, selection: Selection, actor: str) -> UUID:
    """Have a selection reverted in the background. Return the run, by which `run_status` finds it."""
    return JOB.start(task_name=TASK_NAME, selection=selection.as_json(), actor=actor, below=None)


def revert_part(*, selection: Mapping[str, Any], actor: str, run: str, below: int | None) -> dict[str, Any]:
    """Revert one batch of a run, and enqueue the next one if there are more. Repeating a batch does no harm."""
    done = conflicts_revert(access=system_access(actor), selection=Selection.from_json(selection), below=below)
    if done.below is not None:
        JOB.enqueue(run=run, task_name=TASK_NAME, selection=dict(selection), actor=actor, below=done.below)
    return {
        "reverted": done.reverted,
        "refused": len(done.refused),
        "reasons": [(str(one.uuid), one.reason) for one in done.refused[:KEPT_REASONS]],
        "finished": done.below is None,
    }


def run_status(run: UUID) -> RevertStatus:
    """Return the outcome of the batches of a run that are done."""
    ended = JOB.results(run)
    reasons = [(uuid, reason) for result in ended.results for uuid, reason in result["reasons"]]
    return RevertStatus(
        reverted=sum(result["reverted"] for result in ended.results),
        refused=sum(result["refused"] for result in ended.results),
        reasons=tuple(reasons[:KEPT_REASONS]),
        finished=ended.finished,
        failed=ended.failed,
    )
