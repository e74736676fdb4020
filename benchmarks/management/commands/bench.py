"""Start a hub of its own in a temporary directory, measure it, and remove it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from benchmarks.hub import run_beside_a_hub
from benchmarks.management.commands.measure import add_options

TIMELINE_EVENTS = 1_000_000


class Command(BaseCommand):
    help = (
        "The benchmark (docs/explain/benchmarks.md): a hub of its own, started, measured and removed. "
        "Needs a quiet machine."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_options(parser, timeline_events=TIMELINE_EVENTS)

    def handle(self, *args: Any, **options: Any) -> None:
        given = {
            name: options[name]
            for name in ("texts", "scope_size", "compared_size", "calls", "timeline_events", "output")
            if options[name] is not None
        }
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
        self.stderr.write("Starting a hub")
        run_beside_a_hub(["measure", *arguments], MEMORYHUB_TIMELINE_ARCHIVE_AFTER_HOURS="0")
