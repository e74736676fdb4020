"""Measure exports and imports."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from benchmarks.exports import measure_exports


class Command(BaseCommand):
    help = (
        "Fill a new hub from a synthetic export with vectors, export it, import that into another new hub and export "
        "again; both exports must be equal. Both hubs are on this machine, and removed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--memories", type=int, default=50_000, help="Default: %(default)s.")
        parser.add_argument("--events", type=int, default=50_000, help="Default: %(default)s.")

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(json.dumps(measure_exports(options["memories"], options["events"]), indent=2))
