"""Maintain the timeline by hand."""

from typing import Any

from django.core.management.base import CommandError

from apps.core.domain.errors import MemoryHubError
from apps.core.management.subcommands import SubcommandsCommand
from apps.episodic.management.timeline import SUBCOMMANDS


class Command(SubcommandsCommand):
    help = "Maintain the timeline: check, repair and archive its segments, and export or remove events."
    subcommands = SUBCOMMANDS

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.run_chosen(options)
        except MemoryHubError as error:
            raise CommandError(error.detail) from error
