"""The door of `mcp`: messages of clients, and the end of a process."""

from apps.mcp.engine import end_engine

__all__ = ["end_engine"]
