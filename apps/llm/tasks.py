"""What django-q2 runs for models."""

from apps.llm.guards.sweep import guards_sweep
from apps.llm.tools.counts import tool_counts_trim


def sweep_guards() -> None:
    """Each hour: remove what the guards of calls to models need no more, and counts that nobody looks at."""
    guards_sweep()
    tool_counts_trim()
