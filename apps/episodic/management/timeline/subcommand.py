"""What a part of `manage.py timeline` is, and what it tells people with."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from django.core.management.base import CommandParser

from apps.core.terminal import progress_bar
from apps.episodic.maintenance.progress import Advance

Options = dict[str, Any]


@dataclass(frozen=True)
class Console:
    """say: results, on standard output. stream: where progress and problems go, standard error."""

    say: Callable[[str], None]
    warn: Callable[[str], None]
    stream: Any

    def watch(self, title: str, total: int) -> AbstractContextManager[Advance]:
        """A progress bar on a terminal, a line now and then elsewhere."""
        return progress_bar(title, total, self.stream)


def no_arguments(parser: CommandParser) -> None:
    """There is nothing to choose."""


@dataclass(frozen=True)
class Subcommand:
    """run: raises CommandError, or MemoryHubError, which becomes one."""

    name: str
    help: str
    run: Callable[[Console, Options], None]
    add_arguments: Callable[[CommandParser], None] = no_arguments


def counted(number: int, word: str) -> str:
    """1 event, 2 events."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
