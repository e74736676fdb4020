"""Sync knowledge."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.domain.errors import ConflictError, MemoryHubError
from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.management.sync import decide, sources, state, syncs
from apps.sync.management.sync.subcommand import EXIT_RUNNING, EXIT_UNAVAILABLE, Console

SUBCOMMANDS = (*sources.SUBCOMMANDS, *syncs.SUBCOMMANDS, *state.SUBCOMMANDS, *decide.SUBCOMMANDS)


class Command(BaseCommand):
    help = "Keep the decisions, policies, patterns and specifications of repositories as memories."

    def add_arguments(self, parser: CommandParser) -> None:
        parts = parser.add_subparsers(dest="subcommand", required=True, metavar="subcommand")
        for one in SUBCOMMANDS:
            sub = parts.add_parser(one.name, help=one.help, description=one.help)
            one.add_arguments(sub)
            sub.add_argument("--json", action="store_true", help="Print the result as JSON, as the API returns it.")

    def handle(self, *args: Any, **options: Any) -> None:
        [chosen] = [one for one in SUBCOMMANDS if one.name == options["subcommand"]]
        console = Console(self.stdout.write, self.stderr.write, self.stderr, options["json"])
        try:
            chosen.run(console, options)
        except KnowledgeUnavailableError as error:
            raise CommandError(f"{error.code}: {error.detail}", returncode=EXIT_UNAVAILABLE) from error
        except ConflictError as error:
            code = EXIT_RUNNING if error.code == "sync_running" else 1
            raise CommandError(error.detail, returncode=code) from error
        except MemoryHubError as error:
            raise CommandError(error.detail) from error
