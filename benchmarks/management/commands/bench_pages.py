"""Measure how soon a person sees something of a page."""

import json
import os
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks.hub import run_beside_a_hub
from benchmarks.pages import NoBrowserError, measure_pages
from memoryhub.web.command import local_url

PATHS = ("/", "/ask/", "/clear-up/")


class Command(BaseCommand):
    help = (
        "Measure the first contentful paint of a person's pages in Chromium, with an empty cache each time, from the "
        "warm server of a temporary hub; and the compressed bytes that a page loads."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--memories", type=int, default=500, help="Of the person. Default: %(default)s.")
        parser.add_argument("--rounds", type=int, default=15, help="Default: %(default)s.")
        parser.add_argument("--here", action="store_true", help="Measure the running hub.")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["here"]:
            arguments = [f"--{name}={options[name]}" for name in ("memories", "rounds")]
            run_beside_a_hub(["bench_pages", "--here", *arguments])
            return
        before = os.getloadavg()[0]
        try:
            found = measure_pages(local_url(settings.MEMORYHUB), PATHS, options["memories"], options["rounds"])
        except NoBrowserError as error:
            raise CommandError(str(error)) from error
        self.stdout.write("| page | first contentful paint, ms: median | worst | bytes |\n|---|---|---|---|")
        for path, one in found.items():
            self.stdout.write(f"| `{path}` | {one['median_ms']} | {one['worst_ms']} | {one['bytes']:,} |")
        self.stdout.write(json.dumps({**found, "load": [round(before, 1), round(os.getloadavg()[0], 1)]}))
