"""Measure what searches cost on this machine, so that the quickest way is chosen for each."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.table import Table

from apps.core.terminal import progress_bar
from apps.llm.services import get_embedder
from apps.retrieval.domain.planner import RowCounts, SearchCosts, plan
from apps.semantic.search.costs import MIN_ROWS, ROWS, calibrate, read_search_costs, write_search_costs

_SIZES = (1_000, 10_000, 50_000, 200_000, 1_000_000)
_SHARES = (1.0, 0.1, 0.01, 0.001)
_TOP_K = 10


class Command(BaseCommand):
    help = (
        "Measure how long each way to find the nearest memories takes on this machine, with synthetic"
        " vectors as long as the model's; all processes that use the data directory then choose by "
        "the result. Takes about a minute. Run it when the machine is quiet, and again when the model"
        " or the machine changes."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--rows", type=int, default=ROWS, help="Vectors to measure with. Default: %(default)s.")
        parser.add_argument("--dry-run", action="store_true", help="Only show what would be written.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["rows"] < MIN_ROWS:
            raise CommandError(f"--rows must be at least {MIN_ROWS}.")
        dimension = get_embedder().space.dimension
        before = read_search_costs(dimension)
        with progress_bar("Building a graph", options["rows"], self.stderr) as advance:
            costs = calibrate(dimension, options["rows"], advance)
        console = Console(file=self.stdout, highlight=False, width=100)  # type: ignore[arg-type]
        console.print(costs_table(before, costs))
        console.print(choices_table(costs))
        if options["dry_run"]:
            return
        try:
            self.stdout.write(f"Written to {write_search_costs(costs)}.")
        except OSError as error:
            raise CommandError(f"The costs could not be written: {error}") from error


def costs_table(before: SearchCosts, costs: SearchCosts) -> Table:
    """Return a table of the costs until now and the measured ones."""
    table = Table(title=f"Microseconds, for vectors of {costs.dimension} numbers")
    table.add_column("what")
    table.add_column("until now", justify="right")
    table.add_column("measured", justify="right")
    names = {
        "scan": "a thousand rows in order",
        "subset": "a thousand selected rows",
        "graph": "a hundred rows of a graph's search width",
        "fixed": "any search in a graph",
    }
    for name, meaning in names.items():
        table.add_row(meaning, f"{getattr(before, name):.1f}", f"{getattr(costs, name):.1f}")
    return table


def choices_table(costs: SearchCosts) -> Table:
    """Return a table of the ways that these costs make searches choose."""
    table = Table(title=f"How the {_TOP_K} nearest are found if this many match the filters, and in how many ms")
    table.add_column("memories", justify="right")
    for share in _SHARES:
        table.add_column(f"{share:.1%}")
    for size in _SIZES:
        plans = [plan(RowCounts(size, size, int(share * size), size), _TOP_K, costs) for share in _SHARES]
        table.add_row(f"{size:,}", *(f"{chosen.way} {chosen.price / 1000:.2f}" for chosen in plans))
    return table
