"""What commands that ask questions about saved memories have in common: a hub of their own, and shares of answers."""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from benchmarks.exports import empty_hub, run_in

TITLE = "Share of questions that the first hit / one of the first ten answers"


class QuestionsCommand(BaseCommand):
    """Measures in a new hub, which is removed, unless it is told to do so here.

    name: of the command. flags: options without a value that the measurement there gets as well.
    """

    name: str
    flags: Sequence[str] = ("sealed",)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--sealed", action="store_true", help="Ask the questions that nobody tunes with.")
        parser.add_argument("--embedder", help="Default: that of the settings.")
        parser.add_argument("--output", type=Path, help="Write the figures to this file as JSON.")
        parser.add_argument("--here", action="store_true", help="In the database of this hub, where memories stay.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["here"]:
            self.measure(options)
            return
        embedder = options["embedder"] or settings.MEMORYHUB.embedding.embedder
        with empty_hub(models=Path(settings.MODELS_DIR), MEMORYHUB_EMBEDDER=embedder) as hub:
            flags = [f"--{name}" for name in self.flags if options[name]]
            output = [f"--output={options['output'].resolve()}"] if options["output"] else []
            run_in(hub, self.name, "--here", *flags, *output)

    @abstractmethod
    def measure(self, options: dict[str, Any]) -> None:
        """Print the figures as a table."""


def shares(ranks: Sequence[int]) -> dict[str, float]:
    """Return how many questions there are, which share the first hit answers, and which share the first ten.

    ranks: of what answers each, from 1; 0 where the first ten do not have it.
    """
    return {
        "questions": len(ranks),
        "first": round(sum(rank == 1 for rank in ranks) / len(ranks), 3),
        "in_ten": round(sum(rank > 0 for rank in ranks) / len(ranks), 3),
    }


def shown(said: dict[str, float]) -> str:
    """Return shares as a cell of a table."""
    return f"{said['first']:.3f} / {said['in_ten']:.3f}"
