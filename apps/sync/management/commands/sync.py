"""Sync knowledge."""

from typing import Any

from django.core.management.base import CommandError

from apps.core.domain.errors import ConflictError, MemoryHubError
from apps.core.management.subcommands import SubcommandsCommand, argument
from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.management.sync import sources, syncs
from apps.sync.management.sync.subcommand import EXIT_RUNNING, EXIT_UNAVAILABLE


class Command(SubcommandsCommand):
    help = "Keep the decisions, policies, patterns and specifications of repositories as memories."
    subcommands = (*sources.SUBCOMMANDS, *syncs.SUBCOMMANDS)
    common = [argument("--json", action="store_true", help="Print the result as JSON, as the API returns it.")]

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.run_chosen(options)
        except KnowledgeUnavailableError as error:
            raise CommandError(f"{error.code}: {error.detail}", returncode=EXIT_UNAVAILABLE) from error
        except ConflictError as error:
            code = EXIT_RUNNING if error.code == "sync_running" else 1
            raise CommandError(error.detail, returncode=code) from error
        except MemoryHubError as error:
            raise CommandError(error.detail) from error
