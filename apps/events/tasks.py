"""What django-q2 runs for the outbox."""

from apps.events import services


def drain() -> None:
    """Deliver what is due."""
    services.drain()


def sweep() -> None:
    """Each minute: see that what is due gets drained."""
    services.sweep()


def trim() -> None:
    """Each day: delete what was delivered long ago."""
    services.trim()
