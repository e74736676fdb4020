"""The door of live push: its begin and its end in a web process, its sockets, and what concerns one person."""

from django.db import connection

from apps.live.application import live_application
from apps.live.domain.topics import MINE, own_note, person_digest
from apps.live.listener import listener_facts
from apps.live.process import live_process
from apps.live.triggers import OWN_CHANNEL

__all__ = ["begin_live", "end_live", "listener_facts", "live_application", "person_changed"]


def begin_live() -> None:
    """Begin to hear of changes, in the event loop of a web process."""
    live_process().begin()


def end_live() -> None:
    """End it, from any thread."""
    live_process().end()


def person_changed(user_id: str) -> None:
    """Have a person's own pages fetch again what is marked `data-live="mine"`, when the transaction commits.

    For what changes without a row in a table of `memoryhub.topics.OWN`, such as the progress of a background run. Any
    process may call it, as often as it likes: a page hears of it at most once a second. No one else does.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [OWN_CHANNEL, own_note(person_digest(user_id), MINE)])
