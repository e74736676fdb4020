"""Reverting more decisions than a request has time for: part after part in the background, with what came of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django_q.models import Task
from django_q.tasks import async_task

from apps.core.domain.scope import system_access
from apps.semantic.conflicts.bulk_revert import BulkRevert, Selection, conflicts_revert

TASK = "apps.semantic.tasks.revert_conflicts"
# Of one part: enough to explain, and small enough for a row of results.
KEPT_REASONS = 50


@dataclass(frozen=True)
class RunStatus:
    """How far a run is. refused: of how many; reasons: of the first ones, by the id of their receipts."""

    reverted: int = 0
    refused: int = 0
    reasons: tuple[tuple[str, str], ...] = ()
    finished: bool = False
    failed: bool = False


def revert_later(*, selection: Selection, actor: str) -> UUID:
    """Have a selection reverted in the background; gives the run, by which `run_status` finds it."""
    run = uuid4()
    _enqueue(selection.as_json(), actor, str(run), None)
    return run


def revert_part(*, selection: Mapping[str, Any], actor: str, run: str, below: int | None) -> dict[str, Any]:
    """One part of a run; asks for the next one if there is more. Doing a part twice does no harm."""
    done = conflicts_revert(access=system_access(actor), selection=Selection.from_json(selection), below=below)
    if done.below is not None:
        _enqueue(selection, actor, run, done.below)
    return _as_json(done)


def run_status(run: UUID) -> RunStatus:
    """What came of the parts of a run that are done."""
    parts = list(Task.objects.filter(group=_group(str(run))).order_by("started"))
    results: list[dict[str, Any]] = [part.result for part in parts if part.success]
    return RunStatus(
        reverted=sum(result["reverted"] for result in results),
        refused=sum(result["refused"] for result in results),
        reasons=tuple(_reasons(results)),
        finished=any(result["finished"] for result in results),
        failed=any(not part.success for part in parts),
    )


def _reasons(results: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    shown = [(uuid, reason) for result in results for uuid, reason in result["reasons"]]
    yield from shown[:KEPT_REASONS]


def _as_json(done: BulkRevert) -> dict[str, Any]:
    return {
        "reverted": done.reverted,
        "refused": len(done.refused),
        "reasons": [(str(one.uuid), one.reason) for one in done.refused[:KEPT_REASONS]],
        "finished": done.below is None,
    }


def _group(run: str) -> str:
    return f"revert {run}"


def _enqueue(selection: Mapping[str, Any], actor: str, run: str, below: int | None) -> None:
    payload = {"selection": dict(selection), "actor": actor, "run": run, "below": below}
    async_task(TASK, **payload, q_options={"group": _group(run), "task_name": "semantic.revert_conflicts"})
