"""Maintain the timeline by hand."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.domain.errors import MemoryHubError
from apps.episodic.management.timeline.doctor import DOCTOR, VERIFY
from apps.episodic.management.timeline.export import EXPORT
from apps.episodic.management.timeline.maintain import COMPACT, MAINTAIN, SEAL
from apps.episodic.management.timeline.remove import PRUNE, PURGE
from apps.episodic.management.timeline.subcommand import Console

SUBCOMMANDS = (DOCTOR, VERIFY, MAINTAIN, SEAL, COMPACT, PRUNE, PURGE, EXPORT)


class Command(BaseCommand):
    help = "Maintain the timeline: check, repair and archive its segments, and export or remove events."

    def add_arguments(self, parser: CommandParser) -> None:
        parts = parser.add_subparsers(dest="subcommand", required=True, metavar="subcommand")
        for one in SUBCOMMANDS:
            one.add_arguments(parts.add_parser(one.name, help=one.help, description=one.help))

    def handle(self, *args: Any, **options: Any) -> None:
        [chosen] = [one for one in SUBCOMMANDS if one.name == options["subcommand"]]
        try:
            chosen.run(Console(self.stdout.write, self.stderr.write, self.stderr), options)
        except MemoryHubError as error:
            raise CommandError(error.detail) from error
