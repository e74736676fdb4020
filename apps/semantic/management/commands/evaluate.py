"""Measure how well the search finds known evidence."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.table import Table

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import system_access
from apps.core.terminal import progress_bar
from apps.retrieval.domain.query import SearchMode
from apps.semantic.domain.evaluation import CUTOFFS
from apps.semantic.evaluation.run import evaluate
from apps.semantic.imports.files import UnreadableFileError, read_questions


class Command(BaseCommand):
    help = (
        "Ask the questions of a LoCoMo file, or of JSON Lines, and print recall, MRR and latency. "
        "Import the memories first (manage.py import_memories)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--user-prefix", default="", help="The prefix that import_memories was run with.")
        parser.add_argument("--mode", choices=[mode.value for mode in SearchMode], help="Default: hybrid.")
        parser.add_argument("--json", action="store_true", help="Print JSON instead of a table.")
        parser.add_argument("--output", type=Path, help="Also write the JSON to this file.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            questions = read_questions(options["file"], options["user_prefix"])
            mode = SearchMode(options["mode"]) if options["mode"] else None
            with progress_bar("Asking", len(questions), self.stderr) as advance:
                figures = evaluate(
                    system_access("evaluate"), questions, mode=mode, progress=lambda: advance(1)
                ).as_json()
        except (UnreadableFileError, MemoryHubError) as error:
            raise CommandError(str(error)) from error
        if not figures["overall"]["questions"]:
            raise CommandError(
                "None of the evidence is stored: first run manage.py import_memories with the same file."
            )
        if options["output"]:
            options["output"].write_text(json.dumps(figures, indent=2) + "\n")
        if options["json"]:
            self.stdout.write(json.dumps(figures, indent=2))
            return
        console = Console(file=self.stdout, highlight=False, width=110)  # type: ignore[arg-type]
        console.print(figures_table(figures))
        latency = figures["latency_ms"]
        console.print(f"Latency of a search in process: p50 {latency['p50']} ms, p95 {latency['p95']} ms")
        if figures["evidence_without_memory"]:
            console.print(
                f"{figures['evidence_without_memory']} pieces of evidence have no memory and are not counted."
            )


def figures_table(figures: dict[str, Any]) -> Table:
    """Return a table of recall and MRR by category."""
    table = Table(title="Mean share of evidence found / share of questions with all evidence found")
    table.add_column("questions of category")
    for name in ("count", *(f"@{k}" for k in CUTOFFS), "MRR"):
        table.add_column(name, justify="right")
    for name, row in [*figures["by_category"].items(), ("all", figures["overall"])]:
        shares = [f"{row[f'recall@{k}']:.3f} / {row[f'complete@{k}']:.3f}" for k in CUTOFFS]
        table.add_row(name or "-", str(row["questions"]), *shares, f"{row['mrr']:.3f}")
    return table
