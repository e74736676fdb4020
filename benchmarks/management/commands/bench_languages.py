"""`manage.py bench_languages`: how well questions in many languages find their memories."""

import json
from itertools import chain
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from rich.console import Console
from rich.table import Table

from apps.retrieval.domain.query import SearchMode
from benchmarks.exports import empty_hub, run_in
from benchmarks.languages import ranks, read_lives, save_life, shares


class Command(BaseCommand):
    help = (
        "Save memories of our own writing in many languages in a new hub, which is removed, ask a question about each, "
        "and print how often the first hit and the first ten answer."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--sealed", action="store_true", help="Ask those of authors whom nobody tunes with.")
        parser.add_argument("--embedder", help="Default: that of the settings.")
        parser.add_argument("--output", type=Path, help="Write the figures to this file as JSON.")
        parser.add_argument("--here", action="store_true", help="In the database of this hub, where memories stay.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["here"]:
            self.measure(options)
            return
        embedder = options["embedder"] or settings.MEMORYHUB.embedding.embedder
        with empty_hub(models=Path(settings.MODELS_DIR), MEMORYHUB_EMBEDDER=embedder) as hub:
            output = [f"--output={options['output'].resolve()}"] if options["output"] else []
            run_in(hub, "bench_languages", "--here", *(["--sealed"] if options["sealed"] else []), *output)

    def measure(self, options: dict[str, Any]) -> None:
        """Print the figures as a table."""
        by_mode: dict[str, dict[str, list[int]]] = {mode.value: {} for mode in SearchMode}
        for life in read_lives(is_sealed=options["sealed"]):
            rows = save_life(life)
            for mode in SearchMode:
                by_mode[mode].setdefault(life.language, []).extend(ranks(life, rows, mode))
        figures = {
            mode: {**{name: shares(found) for name, found in of.items()}, "all": shares(list(chain(*of.values())))}
            for mode, of in by_mode.items()
        }
        table = Table(title="Share of questions that the first hit / one of the first ten answers")
        for column in ("language", "questions", *figures):
            table.add_column(column, justify="left" if column == "language" else "right")
        for name, said in next(iter(figures.values())).items():
            parts = (f"{of[name]['first']:.3f} / {of[name]['in_ten']:.3f}" for of in figures.values())
            table.add_row(name, str(said["questions"]), *parts)
        Console(file=self.stdout, highlight=False, width=120).print(table)  # type: ignore[arg-type]
        if options["output"]:
            options["output"].write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
