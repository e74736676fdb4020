"""Measure syncs of knowledge."""

import json
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console

from benchmarks.exports import empty_hub, run_in
from benchmarks.sync.measurement import SyncMeasurement, figures_as_json, measure_delta, table_of
from benchmarks.sync.walk import measure_walk


class Command(BaseCommand):
    help = (
        "Sync synthetic decision records from repositories of its own into a new hub, which is removed: full, "
        "incremental and single syncs, beside the embedder alone. Fails where a sync of what is unchanged does "
        "something. "
        "--walk: sync a real history commit by commit instead, and compare the pointers after each with those that the "
        "whole tree would make; at the end with those of a full sync by another source."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--delta", type=int, default=100_000, help="Items that are compared. Default: %(default)s.")
        parser.add_argument("--items", type=int, default=1_000, help="Of the full sync. Default: %(default)s.")
        parser.add_argument("--files", type=int, default=10_000, help="Of the large source. Default: %(default)s.")
        parser.add_argument("--commits", type=int, default=10, help="Of an incremental sync. Default: %(default)s.")
        parser.add_argument("--output", type=Path, help="Write the figures to this file as JSON.")
        parser.add_argument("--walk", type=Path, metavar="BUNDLE", help="A git bundle of one branch.")
        parser.add_argument("--every", type=int, default=1, help="Walk: only every n-th commit. Default: %(default)s.")
        parser.add_argument(
            "--here", action="store_true", help="In the database of this hub, where a walk leaves a source."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["walk"] and not options["walk"].is_file():
            raise CommandError("There is no such bundle.")
        if not options["here"]:
            embedder = "hashing" if options["walk"] else settings.MEMORYHUB.embedding.embedder
            with empty_hub(models=Path(settings.MODELS_DIR), MEMORYHUB_EMBEDDER=embedder) as hub:
                run_in(hub, "bench_sync", "--here", *given(options))
        elif options["walk"]:
            with tempfile.TemporaryDirectory(prefix="memoryhub-bench-") as place:
                figures = measure_walk(options["walk"], Path(place), options["every"])
            self.stdout.write(json.dumps(figures, indent=2))
        else:
            self.measure(options)

    def measure(self, options: dict[str, Any]) -> None:
        """Print the figures of synthetic records as a table."""
        run = SyncMeasurement(options["items"], options["files"], options["commits"], say=self.stderr.write)
        figures = [measure_delta(options["delta"]), *run.run()]
        Console(file=self.stdout, highlight=False, width=150).print(table_of(figures))  # type: ignore[arg-type]
        if options["output"]:
            options["output"].write_text(json.dumps(figures_as_json(figures), indent=2) + "\n")


def given(options: dict[str, Any]) -> list[str]:
    """Return the options as they are passed on."""
    names = ("delta", "items", "files", "commits", "output", "walk", "every")
    return [f"--{name}={options[name]}" for name in names if options[name] is not None]
