"""`manage.py bench_languages`: how well questions in many languages find their memories."""

import json
from itertools import chain
from typing import Any

from rich.console import Console
from rich.table import Table

from apps.retrieval.domain.query import SearchMode
from benchmarks.languages import ranks, read_lives, save_life
from benchmarks.questions import TITLE, QuestionsCommand, shares, shown


class Command(QuestionsCommand):
    help = (
        "Save memories of our own writing in many languages in a new hub, which is removed, ask a question about each, "
        "and print how often the first hit and the first ten answer."
    )
    name = "bench_languages"

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
        table = Table(title=TITLE)
        for column in ("language", "questions", *figures):
            table.add_column(column, justify="left" if column == "language" else "right")
        for name, said in next(iter(figures.values())).items():
            parts = (shown(of[name]) for of in figures.values())
            table.add_row(name, str(said["questions"]), *parts)
        Console(file=self.stdout, highlight=False, width=120).print(table)  # type: ignore[arg-type]
        if options["output"]:
            options["output"].write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
