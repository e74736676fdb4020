"""What django-q2 runs for semantic memory."""

from collections.abc import Mapping
from typing import Any

from apps.semantic import bulk_queue, consolidating


def revert_conflicts(selection: Mapping[str, Any], actor: str, run: str, below: int | None) -> dict[str, Any]:
    """One part of reverting many decisions; gives what came of it."""
    return bulk_queue.revert_part(selection=selection, actor=actor, run=run, below=below)


def consolidate_enabled() -> None:
    """Each hour: ask for a run of every consolidation that is enabled."""
    consolidating.consolidations_request()


def consolidate(pk: int, scheduled: bool = False) -> None:
    """One run of a consolidation. scheduled: only while it is enabled."""
    consolidating.consolidation_run(pk=pk, only_if_enabled=scheduled)
