"""Measure how well Chinese questions find what answers them."""

import json
from typing import Any

from django.core.management.base import CommandParser
from rich.console import Console
from rich.table import Table

from benchmarks.chinese import as_json, measure, read_set
from benchmarks.questions import TITLE, QuestionsCommand, shown


class Command(QuestionsCommand):
    help = (
        "Save memories of our own writing in Traditional and Simplified Chinese in a new hub, which is removed, and as "
        "notes, ask questions about them in both scripts, and print how often the first hit and the first ten answer."
    )
    name = "bench_chinese"
    flags = ("sealed", "misses")

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--misses", action="store_true", help="Name the questions that the first ten miss.")

    def measure(self, options: dict[str, Any]) -> None:
        """Print the figures as a table."""
        asked = measure(read_set(is_sealed=options["sealed"]), "bench-chinese-")
        found = as_json(asked, with_misses=options["misses"])
        misses = found.pop("misses", None)
        table = Table(title=TITLE)
        table.add_column("search")
        for part, shares in next(iter(found.values())).items():
            table.add_column(f"{part} ({shares['questions']})", justify="right")
        for name, parts in found.items():
            table.add_row(name, *(shown(part) for part in parts.values()))
        Console(file=self.stdout, highlight=False, width=170).print(table)  # type: ignore[arg-type]
        if misses:
            self.stdout.write(json.dumps(misses, indent=2, ensure_ascii=False))
        if options["output"]:
            text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
            options["output"].write_text(text, encoding="utf-8")
