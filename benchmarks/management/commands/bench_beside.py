"""Measure searches and saves of a hub of its own beside the embedder alone, and beside Chroma."""

import json
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks.beside import Beside, ChromaCollection
from benchmarks.hub import run_beside_a_hub
from memoryhub.web.command import local_url


class Command(BaseCommand):
    help = (
        "Measure searches and saves over HTTP beside the embedder alone and, where it is installed "
        "(uv run --with chromadb manage.py bench_beside), beside Chroma in process, in turn."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--calls", type=int, default=200, help="Calls of each kind. Default: %(default)s.")
        parser.add_argument("--batches", type=int, default=8, help="Default: %(default)s.")
        parser.add_argument(
            "--large", type=int, default=200_000, help="Memories of the largest scope, or 0. Default: %(default)s."
        )
        parser.add_argument("--here", action="store_true", help="Measure the hub that is running already.")

    def handle(self, *args: Any, **options: Any) -> None:
        numbers = {name: options[name] for name in ("calls", "batches", "large")}
        if not options["here"]:
            self.stderr.write("Starting a hub")
            run_beside_a_hub(["bench_beside", "--here", *(f"--{name}={number}" for name, number in numbers.items())])
            return
        url = local_url(settings.MEMORYHUB)
        with tempfile.TemporaryDirectory(prefix="memoryhub-bench-") as place:
            try:
                other = ChromaCollection(Path(place))
            except ImportError:
                other = None
                self.stderr.write("Chroma is not installed: the embedder alone is what the hub is compared with")
            try:
                figures = Beside(url, other, **numbers, say=self.stderr.write).run()
            except (OSError, RuntimeError) as error:
                raise CommandError(f"The hub at {url} did not answer as it should: {error}") from error
        self.stdout.write(json.dumps(figures, indent=2))
