"""Measure what the gateway adds to a call to a chat model."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.table import Table

from apps.core.domain.latency import Measurement, SampleQuality
from benchmarks.gateway import GatewayFigures, MeasurementError, measure_scripted, measure_served

WANTED_P50_MS = 5.0


class Command(BaseCommand):
    help = (
        "Measure what the gateway adds to a call, with models that answer at once and all guards in the database "
        "of this hub. No real model is asked, and nothing is spent."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--calls", type=int, default=300, help="Calls per figure. Default: %(default)s.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            figures = {
                "scripted": measure_scripted(options["calls"]),
                "local server": measure_served(options["calls"]),
            }
        except MeasurementError as error:
            raise CommandError(str(error)) from error
        console = Console(file=self.stdout, highlight=False, width=100)  # type: ignore[arg-type]
        console.print(_table(figures))
        if any(each.whole.quality is SampleQuality.INSUFFICIENT for each in figures.values()):
            console.print("Too few calls to conclude anything from.")
        worst = max(each.overhead_p50 for each in figures.values())
        console.print(f"The gateway adds {worst:.2f} ms to the median call; {WANTED_P50_MS:g} ms is what it may.")


def _table(figures: dict[str, GatewayFigures]) -> Table:
    table = Table(title="Milliseconds, p50 / p95")
    table.add_column("")
    for name in figures:
        table.add_column(name, justify="right")
    rows = {
        "the provider alone": [each.bare for each in figures.values()],
        "through the gateway": [each.whole for each in figures.values()],
        "  of it asking the guards": [each.admit for each in figures.values()],
        "  of it settling with them": [each.settle for each in figures.values()],
    }
    for name, measurements in rows.items():
        table.add_row(name, *map(cell, measurements))
    overheads = [each.overhead_p50 for each in figures.values()]
    table.add_row("added by the gateway, p50", *[f"{overhead:.2f}" for overhead in overheads])
    rests = [each.overhead_p50 - each.admit.summary.p50 - each.settle.summary.p50 for each in figures.values()]
    table.add_row("  of it neither asking nor settling", *[f"{rest:.2f}" for rest in rests])
    return table


def cell(measurement: Measurement) -> str:
    return f"{measurement.summary.p50:.2f} / {measurement.summary.p95:.2f}"
