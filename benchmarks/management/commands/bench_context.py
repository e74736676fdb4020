"""Measure contexts on a hub of its own: evidence within a budget of tokens, and the time beside a search."""

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.semantic.imports.files import UnreadableFileError
from benchmarks.context import ContextMeasurement
from benchmarks.hub import run_beside_a_hub
from memoryhub.web.command import local_url


class Command(BaseCommand):
    help = "Ask the questions of a LoCoMo file for contexts, and count the evidence that they hold, over HTTP."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--max-tokens", type=int, default=1_500)
        parser.add_argument("--every", type=int, default=1, help="Ask one of so many questions.")
        parser.add_argument("--here", action="store_true", help="Measure the hub that is running already.")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["here"]:
            self.stderr.write("Starting a hub")
            run_beside_a_hub(
                [
                    "bench_context",
                    str(options["file"].absolute()),
                    f"--max-tokens={options['max_tokens']}",
                    f"--every={options['every']}",
                    "--here",
                ]
            )
            return
        url = local_url(settings.MEMORYHUB)
        run = ContextMeasurement(url, options["file"], options["max_tokens"], options["every"], self.stderr.write)
        try:
            figures = run.run()
        except (OSError, RuntimeError, UnreadableFileError) as error:
            raise CommandError(f"The hub at {url} did not answer as it should: {error}") from error
        self.stdout.write(json.dumps(figures, indent=2))
