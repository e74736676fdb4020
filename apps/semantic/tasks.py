"""The tasks of semantic memory, which django-q2 runs by these names."""

from collections.abc import Mapping
from typing import Any

from apps.semantic.bridge import ingest, reconcile
from apps.semantic.conflicts import bulk_revert
from apps.semantic.consolidation import services
from apps.semantic.index import recall
from apps.semantic.judge import services as judge_services
from apps.semantic.memories import bring_back


def revert_conflicts(selection: Mapping[str, Any], actor: str, run: str, below: int | None) -> dict[str, Any]:
    """Revert one part of many decisions, and return the result."""
    return bulk_revert.revert_part(selection=selection, actor=actor, run=run, below=below)


def consolidate_enabled() -> None:
    """Request a run of every enabled consolidation; hourly."""
    services.consolidations_request()


def consolidate(pk: int, scheduled: bool = False) -> None:
    """Run a consolidation once. scheduled: only while it is enabled."""
    services.consolidation_run(pk=pk, only_if_enabled=scheduled)


def judge_enabled() -> None:
    """Request a run of the judge, if it is on and has a chat model; hourly."""
    judge_services.judge_request_scheduled()


def judge(scheduled: bool = False) -> None:
    """Put undecided pairs to the chat model. scheduled: only while the judge is on."""
    judge_services.judge_run(only_if_enabled=scheduled)


def ingest_events() -> None:
    """Make memories of pending events of the timeline."""
    ingest.events_ingest()


def reconcile_events() -> None:
    """Reconcile the memories of pruned events."""
    reconcile.links_reconcile()


def catch_up_events() -> None:
    """Request what a lost task left undone, and show the lag of the bridge; each minute."""
    ingest.bridge_catch_up()


def expire_memories() -> None:
    """Delete the memories that have expired; each minute."""
    bring_back.memories_expire()


def trim_events() -> None:
    """Delete what the bridge does not need any more; daily."""
    ingest.ingestions_trim()


def build_graph(user: str) -> None:
    """Build the graph of a user on the disk, as an operator asked for."""
    recall.graph_build(user)


def verify_recall(user: str) -> None:
    """Compare what the graph of a user finds with an exact search, as an operator asked for."""
    recall.recall_check(user)
