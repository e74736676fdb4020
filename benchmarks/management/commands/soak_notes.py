"""Hold one note under writers of all kinds, and count the lines that are lost."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.notes.domain.places import folder_name
from benchmarks.api import bench_key
from benchmarks.hub import run_beside_a_hub
from benchmarks.note_writers import NoteWriters
from memoryhub.web.command import local_url


class Command(BaseCommand):
    help = (
        "Four writers of the API, a shell that appends ten lines a second and an editor that saves by renaming write "
        "one note in a hub of its own, which is started and removed. Fails when a line is lost, is there "
        "twice, or a write takes longer than two seconds."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--minutes", type=float, default=30.0, help="Default: %(default)s.")
        parser.add_argument(
            "--lines", type=int, default=0, help="Begin with a note of so many lines. Default: %(default)s."
        )
        parser.add_argument(
            "--here", action="store_true", help="Use the hub that runs with this configuration instead."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["here"]:
            self.stderr.write("Starting a hub")
            run_beside_a_hub(["soak_notes", "--here", *(f"--{name}={options[name]}" for name in ("minutes", "lines"))])
            return
        user = f"soak-{uuid4()}"
        path = Path(settings.NOTES_DIR) / "users" / folder_name(user) / "MEMORY.md"
        with bench_key() as key:
            writers = NoteWriters(local_url(settings.MEMORYHUB), key, user, path, options["lines"])
            figures = writers.run(options["minutes"] * 60)
        self.stdout.write(json.dumps(figures, indent=2))
        if figures["lost"] or figures["twice"] or figures["longest_api_write_seconds"] > 2:
            raise CommandError("The writers were not all served.")
