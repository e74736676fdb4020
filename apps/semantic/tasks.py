"""What django-q2 runs for semantic memory."""

from apps.semantic import consolidating


def consolidate_enabled() -> None:
    """Each hour: ask for a run of every consolidation that is enabled."""
    consolidating.consolidations_request()


def consolidate(pk: int, scheduled: bool = False) -> None:
    """One run of a consolidation. scheduled: only while it is enabled."""
    consolidating.consolidation_run(pk=pk, only_if_enabled=scheduled)
