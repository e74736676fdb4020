"""The tasks of django-q2 for the outbox; schedules and the queue store their paths."""

from apps.events import services


def drain() -> None:
    """Deliver what is due."""
    services.drain()


def sweep() -> None:
    """Each minute: request a drain if a delivery is due."""
    services.sweep()


def trim() -> None:
    """Each day: delete what was delivered long ago, and records of old runs."""
    services.trim()
    services.runs_trim()
