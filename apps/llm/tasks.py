"""What django-q2 runs for models."""

from apps.llm.guards.sweeping import guards_sweep


def sweep_guards() -> None:
    """Each hour: remove what the guards of calls to models need no more."""
    guards_sweep()
