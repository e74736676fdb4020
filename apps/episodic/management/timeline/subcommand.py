"""The parts of `manage.py timeline`, and the console that they write to."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from apps.core.terminal import progress_bar
from apps.episodic.maintenance.runner import Advance
from apps.episodic.models import Segment

Options = dict[str, Any]


@dataclass(frozen=True)
class Console:
    """say: results, on standard output. stream: where progress and problems go, standard error."""

    say: Callable[[str], None]
    warn: Callable[[str], None]
    stream: Any

    def watch(self, title: str, total: int) -> AbstractContextManager[Advance]:
        """Show a progress bar on a terminal, a line now and then elsewhere."""
        return progress_bar(title, total, self.stream)


@dataclass(frozen=True)
class Subcommand:
    """run: raises CommandError, or MemoryHubError, which becomes one."""

    name: str
    help: str
    run: Callable[[Console, Options], None]
    add_arguments: Callable[[CommandParser], None] = lambda _: None


def count_of(number: int, word: str) -> str:
    """Return a number with a word in the singular or the plural: 1 event, 2 events."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def find_segment(uuid: str) -> Segment:
    """Return the segment of an id. Raises CommandError."""
    try:
        return Segment.objects.get(uuid=uuid)
    except (Segment.DoesNotExist, ValidationError) as error:
        raise CommandError(f"There is no segment {uuid}.") from error


def optional_segment(help_text: str) -> Callable[[CommandParser], None]:
    """Return what adds an argument for the id of a segment."""

    def add(parser: CommandParser) -> None:
        parser.add_argument("segment", nargs="?", help=help_text)

    return add
