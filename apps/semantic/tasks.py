"""What django-q2 runs for semantic memory."""

from collections.abc import Mapping
from typing import Any

from apps.semantic.bridge import ingest, reconcile
from apps.semantic.conflicts import bulk_revert
from apps.semantic.consolidation import services


def revert_conflicts(selection: Mapping[str, Any], actor: str, run: str, below: int | None) -> dict[str, Any]:
    """One part of reverting many decisions; gives what came of it."""
    return bulk_revert.revert_part(selection=selection, actor=actor, run=run, below=below)


def consolidate_enabled() -> None:
    """Each hour: ask for a run of every consolidation that is enabled."""
    services.consolidations_request()


def consolidate(pk: int, scheduled: bool = False) -> None:
    """One run of a consolidation. scheduled: only while it is enabled."""
    services.consolidation_run(pk=pk, only_if_enabled=scheduled)


def ingest_events() -> None:
    """Make memories of the events of the timeline that wait."""
    ingest.events_ingest()


def reconcile_events() -> None:
    """Look at the memories of pruned events."""
    reconcile.links_reconcile()


def catch_up_events() -> None:
    """Each minute: see that nothing waits that nobody was asked for, and show how far the bridge is behind."""
    ingest.bridge_catch_up()


def trim_events() -> None:
    """Each day: delete what the bridge needs no more."""
    ingest.ingestions_trim()
