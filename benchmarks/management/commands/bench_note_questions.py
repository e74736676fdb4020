"""Measure how often the first hit of a search in notes is right."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from benchmarks.note_questions import SETS, ask_all, first_right
from benchmarks.notes import notes_search_by, private_directories


class Command(BaseCommand):
    help = (
        "Ask questions in Traditional and Simplified Chinese of notes of our own writing, in a directory of its own, "
        "which is removed, and count how often the first hit answers them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--search", choices=("hybrid", "keyword"), default="hybrid", help="Default: %(default)s.")
        parser.add_argument("--misses", action="store_true", help="Name the questions that the first hit misses.")

    def handle(self, *args: Any, **options: Any) -> None:
        with private_directories(), notes_search_by(options["search"]):
            sets = {name: list(ask_all(name)) for name in SETS}
        every = [each for asked in sets.values() for each in asked]
        figures: dict[str, Any] = {name: round(first_right(asked), 3) for name, asked in sets.items()}
        figures |= {"questions": len(every), "first_right": round(first_right(every), 3)}
        figures["in_first_five"] = round(sum(each.place > 0 for each in every) / len(every), 3)
        if options["misses"]:
            figures["misses"] = [
                f"{each.question} -> {each.first[:40]} ({each.place}, {each.mode})" for each in every if each.place != 1
            ]
        self.stdout.write(json.dumps(figures, indent=2, ensure_ascii=False))
