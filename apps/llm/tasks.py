"""Tasks of django-q2 for models."""

from apps.llm.guards.sweep import guards_sweep
from apps.llm.tools.counts import tool_counts_trim


def sweep_guards() -> None:
    """Remove what the guards of calls need no more, and old counts of tools; each hour."""
    guards_sweep()
    tool_counts_trim()
