"""Measure what the processes of a hub keep in memory beyond their data."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from benchmarks.memory import MemoryMeasurement


class Command(BaseCommand):
    help = (
        "Measure how much more memory the processes of a temporary hub take after many saves and searches than after a "
        "restart with the same memories."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--saves", type=int, default=20_000, help="Memories. Default: %(default)s.")
        parser.add_argument("--searches", type=int, default=10_000, help="Default: %(default)s.")
        parser.add_argument("--batch", type=int, default=1, help="Memories of a request. Default: %(default)s.")
        parser.add_argument("--long", action="store_true", help="Texts of 250 tokens.")
        parser.add_argument("--users", type=int, default=10, help="Default: %(default)s.")
        parser.add_argument("--clients", type=int, default=4, help="Connections at once. Default: %(default)s.")
        parser.add_argument("--web-processes", type=int, default=1, help="Default: %(default)s.")
        parser.add_argument("--settle", type=float, default=20.0, help="Seconds of rest before each measurement.")
        parser.add_argument("--output", type=Path, help="Write the figures to this file as JSON.")

    def handle(self, *args: Any, **options: Any) -> None:
        measurement = MemoryMeasurement(
            saves=options["saves"],
            searches=options["searches"],
            batch=options["batch"],
            users=options["users"],
            clients=options["clients"],
            settle_seconds=options["settle"],
            is_long=options["long"],
            web_processes=options["web_processes"],
            say=self.stderr.write,
        )
        figures = json.dumps(measurement.run(), indent=2)
        if options["output"]:
            options["output"].write_text(figures + "\n")
        self.stdout.write(figures)
