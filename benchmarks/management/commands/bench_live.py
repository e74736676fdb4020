"""Measure live push."""

import json
import os
from collections.abc import Iterator, Mapping
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
        parser.add_argument("--calls", type=int, default=150, help="Requests of each kind. Default: %(default)s.")
        parser.add_argument("--rounds", type=int, default=5, help="With and without, in turn. Default: %(default)s.")
        parser.add_argument("--here", action="store_true", help="Measure the running hub.")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["here"]:
            arguments = [f"--{name}={options[name]}" for name in ("sockets", "calls", "rounds")]
            run_beside_a_hub(["bench_live", "--here", *arguments], MEMORYHUB_WEB_PROCESSES="1")
            return
        url, rounds = local_url(settings.MEMORYHUB), options["rounds"]
        before = os.getloadavg()[0]
        figures = {
            "sockets": measure_sockets(url, options["sockets"], options["calls"], rounds, self._say),
            "commits": measure_commits(3.0, 8, self._say),
            "triggers": measure_triggers(rounds, self._say),
            "load": {"before": round(before, 1), "after": round(os.getloadavg()[0], 1)},
        }
        for line in table(figures):
            self.stdout.write(line)
        self.stdout.write(json.dumps(figures, indent=2))

    def _say(self, text: str) -> None:
        self.stderr.write(text)


def table(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was measured of sockets and triggers as rows of Markdown."""
    sockets = figures["sockets"]
    yield "| figure | without | with | ratio, median of rounds (least to largest) |"
    yield "|---|---|---|---|"
    yield f"| memory for {sockets['sockets']} sockets, MB | | {sockets['megabytes']} | |"
    for kind, ratio in sockets["with_over_without"].items():
        without, having = (sockets[f"{variant}_sockets"][kind] for variant in ("without", "with"))
        times = " | ".join(f"{one['p50_ms']} / {one['p95_ms']}" for one in (without, having))
        yield f"| `{kind}`, p50 / p95 ms | {times} | {ratio['median']} ({ratio['least']} to {ratio['largest']}) |"
    for kind, found in figures["triggers"].items():
        times = f"{found['off_ms']} | {found['on_ms']} | {found['triggers_over_none']}"
        yield f"| {kind} without and with triggers, ms | {times} |"
    commits = figures["commits"]
    yield f"| commits a second | {commits['off_per_second']} | {commits['on_per_second']} | {commits['ratio']} |"
