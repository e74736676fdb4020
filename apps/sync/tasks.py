"""The tasks of sync, which django-q2 runs by these names."""

from uuid import UUID

from apps.sync import services


def run(uuid: str) -> None:
    """Work on a sync that was requested."""
    services.run_waiting(UUID(uuid))


def due() -> None:
    """Request the syncs that are due, and end those that were interrupted; each minute."""
    services.sync_due()


def trim() -> None:
    """Delete old runs and checkpoints; each hour."""
    services.runs_trim()
