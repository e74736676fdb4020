"""Measure how long a hub takes to start on a busy machine."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks.starts import MAX_BURNERS, MAX_TIMES, measure_starts


class Command(BaseCommand):
    help = (
        "Start and stop a temporary hub several times beside processes that keep the processors busy, and say how long "
        "each start took. Fails when a process of the hub was lost, or a start failed. MEMORYHUB_WEB_PROCESSES holds."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--times", type=int, default=10, help=f"1 to {MAX_TIMES}. Default: %(default)s.")
        parser.add_argument(
            "--burners", type=int, default=15, help=f"Busy processes, 0 to {MAX_BURNERS}. Default: %(default)s."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        for name, low, high in (("times", 1, MAX_TIMES), ("burners", 0, MAX_BURNERS)):
            if not low <= options[name] <= high:
                raise CommandError(f"--{name} must be {low} to {high}.")
        figures = measure_starts(options["times"], options["burners"], self.stderr.write)
        self.stdout.write(json.dumps(figures, indent=2))
        if figures["lost"]:
            raise CommandError(f"{figures['lost']} processes of the hub were lost.")
