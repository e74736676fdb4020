"""Measure the search in notes."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from benchmarks.notes import NotesMeasurement


class Command(BaseCommand):
    help = (
        "Write synthetic notes into a directory of its own, make their index, and search them in this process; "
        "beside it bare FTS5 over the same lines and the embedder alone. The directory is removed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--notes", type=int, default=10_000, help="Default: %(default)s.")
        parser.add_argument("--lines", type=int, default=20, help="Of each note. Default: %(default)s.")
        parser.add_argument("--calls", type=int, default=200, help="Searches of each kind. Default: %(default)s.")
        parser.add_argument("--no-vectors", action="store_true", help="Measure words only.")

        parser.add_argument("--few-words", action="store_true", help="Notes in which every word is a common one.")
        parser.add_argument("--random-vectors", action="store_true", help="Do not embed the texts: takes minutes less.")

    def handle(self, *args: Any, **options: Any) -> None:
        measurement = NotesMeasurement(
            options["notes"],
            options["lines"],
            options["calls"],
            not options["no_vectors"],
            options["few_words"],
            options["random_vectors"],
            say=lambda text: self.stderr.write(text),
        )
        self.stdout.write(json.dumps(measurement.run(), indent=2))
