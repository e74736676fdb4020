"""What the parts of `manage.py sync` share, and the progress of a run."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Self
from uuid import UUID

from django.core.management.base import CommandError

from apps.core.domain.scope import system_access
from apps.core.management.subcommands import argument
from apps.core.terminal import progress_bar
from apps.sync.models import KnowledgeSource, SyncRun

ACCESS = system_access("command: sync")
# Besides 0, 1 for anything refused, and 2 for options that cannot be read.
EXIT_PARTIAL = 3
EXIT_UNAVAILABLE = 4
EXIT_RUNNING = 5
EXIT_NO_ITEMS = 6
SOURCE = argument("source", help="The name or the id of a source.")


class RunProgress:
    """Shows each step of a run as a bar of its own."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._stack = stream, ExitStack()
        self._shown: tuple[str, int] = ("", 0)
        self._advance: Callable[[int], None] = lambda _: None
        self._done = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def __call__(self, run: SyncRun) -> None:
        """Show how far a run is."""
        if (run.step, run.total) != self._shown:
            self._stack.close()
            self._shown, self._done = (run.step, run.total), 0
            title = run.step.replace("_", " ").capitalize()
            self._advance = self._stack.enter_context(progress_bar(title, run.total, self._stream))
        if run.done > self._done:
            self._advance(run.done - self._done)
            self._done = run.done


def find_source(name: str) -> KnowledgeSource:
    """Return the source of a name or an id. Raises CommandError."""
    source = KnowledgeSource.objects.filter(name=name).first()
    if source is None:
        identifier = read_uuid(name)
        source = KnowledgeSource.objects.filter(uuid=identifier).first() if identifier else None
    if source is None:
        raise CommandError(f"There is no source {name}: `manage.py sync list` lists all of them.")
    return source


def read_uuid(text: str) -> UUID | None:
    """Return an id, None for a text that is none."""
    try:
        return UUID(text)
    except ValueError:
        return None
