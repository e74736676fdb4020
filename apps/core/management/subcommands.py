"""Commands of several parts, such as `manage.py timeline seal`, and the console that the parts write to."""

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandParser

from apps.core.terminal import progress_bar

Options = dict[str, Any]
Argument = Callable[[CommandParser], Any]


@dataclass(frozen=True)
class Console:
    """say: results, on standard output. stream: where progress and problems go, standard error. is_json: as the API."""

    say: Callable[[str], None]
    warn: Callable[[str], None]
    stream: Any
    is_json: bool = False

    def answer(self, value: Any, *lines: str) -> None:
        """Print a value as JSON if that was asked for, else the lines."""
        for line in [json.dumps(value, indent=2, ensure_ascii=False)] if self.is_json else lines:
            self.say(line)

    def watch(self, title: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        """Show a progress bar on a terminal, a line now and then elsewhere."""
        return progress_bar(title, total, self.stream)


@dataclass(frozen=True)
class Subcommand:
    """run: raises CommandError, or MemoryHubError, which becomes one."""

    name: str
    help: str
    run: Callable[[Console, Options], None]
    arguments: Sequence[Argument] = ()


def argument(*names: str, **options: Any) -> Argument:
    """Return an argument of a subcommand, as `add_argument` takes it."""
    return lambda parser: parser.add_argument(*names, **options)


class SubcommandsCommand(BaseCommand):
    """A command of which one part is chosen. common: arguments that every part has."""

    subcommands: ClassVar[Sequence[Subcommand]]
    common: ClassVar[Sequence[Argument]] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add a parser for each part."""
        parts = parser.add_subparsers(dest="subcommand", required=True, metavar="subcommand")
        for one in self.subcommands:
            sub = parts.add_parser(one.name, help=one.help, description=one.help)
            for add in (*one.arguments, *self.common):
                add(sub)

    def run_chosen(self, options: Options) -> None:
        """Run the part that was chosen."""
        [chosen] = [one for one in self.subcommands if one.name == options["subcommand"]]
        chosen.run(Console(self.stdout.write, self.stderr.write, self.stderr, options.get("json", False)), options)


def count_of(number: int, word: str) -> str:
    """Return a number with a word in the singular or the plural: 1 event, 2 events."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
