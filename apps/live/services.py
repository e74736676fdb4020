"""The door of live push: its begin and its end in a web process, and the application of its sockets."""

from apps.live.application import live_application
from apps.live.process import live_process

__all__ = ["begin_live", "end_live", "live_application"]


def begin_live() -> None:
    """Begin to hear of changes, in the event loop of a web process."""
    live_process().begin()


def end_live() -> None:
    """End it, from any thread."""
    live_process().end()
