"""Measure how well Chinese questions find what answers them."""

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from rich.console import Console
from rich.table import Table

from benchmarks.chinese import as_json, measure, read_set
from benchmarks.exports import empty_hub, run_in


class Command(BaseCommand):
    help = (
        "Save memories of our own writing in Traditional and Simplified Chinese in a new hub, which is removed, and as "
        "notes, ask questions about them in both scripts, and print how often the first hit and the first ten answer."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--sealed", action="store_true", help="Ask the questions that nobody tunes with.")
        parser.add_argument("--misses", action="store_true", help="Name the questions that the first ten miss.")
        parser.add_argument("--embedder", help="Default: that of the settings.")
        parser.add_argument("--output", type=Path, help="Write the figures to this file as JSON.")
        parser.add_argument("--here", action="store_true", help="In the database of this hub, where memories stay.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["here"]:
            self.measure(options)
            return
        embedder = options["embedder"] or settings.MEMORYHUB.embedding.embedder
        with empty_hub(models=Path(settings.MODELS_DIR), MEMORYHUB_EMBEDDER=embedder) as hub:
            flags = [f"--{name}" for name in ("sealed", "misses") if options[name]]
            output = [f"--output={options['output'].resolve()}"] if options["output"] else []
            run_in(hub, "bench_chinese", "--here", *flags, *output)

    def measure(self, options: dict[str, Any]) -> None:
        """Print the figures as a table."""
        asked = measure(read_set(is_sealed=options["sealed"]), "bench-chinese-")
        found = as_json(asked, with_misses=options["misses"])
        misses = found.pop("misses", None)
        table = Table(title="Share of questions that the first hit / one of the first ten answers")
        table.add_column("search")
        for part, shares in next(iter(found.values())).items():
            table.add_column(f"{part} ({shares['questions']})", justify="right")
        for name, parts in found.items():
            table.add_row(name, *(f"{part['first']:.3f} / {part['in_ten']:.3f}" for part in parts.values()))
        Console(file=self.stdout, highlight=False, width=170).print(table)  # type: ignore[arg-type]
        if misses:
            self.stdout.write(json.dumps(misses, indent=2, ensure_ascii=False))
        if options["output"]:
            text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
            options["output"].write_text(text, encoding="utf-8")
