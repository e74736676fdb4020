"""Measure syncs of knowledge."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks.exports import empty_hub
from benchmarks.sync_walk import measure_walk


class Command(BaseCommand):
    help = (
        "Sync a real history commit by commit in a new hub, which is removed, and compare the pointers after each with "
        "those that the whole tree would make; at the end with those of a full sync by another source."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--walk", type=Path, required=True, metavar="BUNDLE", help="A git bundle of one branch.")
        parser.add_argument("--every", type=int, default=1, help="Only every n-th commit. Default: %(default)s.")
        parser.add_argument(
            "--here", action="store_true", help="In the database of this hub, where it leaves a source."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["walk"].is_file():
            raise CommandError("There is no such bundle.")
        if options["here"]:
            with tempfile.TemporaryDirectory(prefix="memoryhub-bench-") as place:
                figures = measure_walk(options["walk"], Path(place), options["every"])
            self.stdout.write(json.dumps(figures, indent=2))
            return
        command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "bench_sync", "--here"]
        with empty_hub() as hub:
            subprocess.run(
                [*command, "--walk", str(options["walk"].resolve()), "--every", str(options["every"])],
                env=hub,
                check=True,
            )
