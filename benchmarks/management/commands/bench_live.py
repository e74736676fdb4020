"""Measure live push."""

import json
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from benchmarks.hub import run_beside_a_hub
from benchmarks.live import measure_commits, measure_sockets, measure_triggers
from memoryhub.web.command import local_url


class Command(BaseCommand):
    help = (
        "Measure live push in a temporary hub with one web process: what the triggers cost a save, and what sockets "
        "cost the web process. Needs a quiet machine."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--sockets", type=int, default=200, help="Default: %(default)s.")
        parser.add_argument("--calls", type=int, default=300, help="Requests of each kind. Default: %(default)s.")
        parser.add_argument("--rounds", type=int, default=30, help="Of saves. Default: %(default)s.")
        parser.add_argument("--here", action="store_true", help="Measure the running hub.")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["here"]:
            arguments = [f"--{name}={options[name]}" for name in ("sockets", "calls", "rounds")]
            run_beside_a_hub(["bench_live", "--here", *arguments], MEMORYHUB_WEB_PROCESSES="1")
            return
        figures = {
            "sockets": measure_sockets(local_url(settings.MEMORYHUB), options["sockets"], options["calls"], self._say),
            "commits": measure_commits(5.0, 8, self._say),
            "triggers": measure_triggers(options["rounds"], self._say),
        }
        self.stdout.write(json.dumps(figures, indent=2))

    def _say(self, text: str) -> None:
        self.stderr.write(text)
