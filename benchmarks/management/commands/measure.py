"""Measure a running hub from the machine it runs on."""

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.table import Table

from apps.semantic.imports.files import UnreadableFileError, read_memories
from apps.semantic.imports.importer import PlacedDraft
from benchmarks.api import Measurement
from benchmarks.texts import synthetic_texts
from benchmarks.timeline import TimelineMeasurement
from memoryhub.web.command import local_url


class Command(BaseCommand):
    help = "Measure embedding, import, search and saving on the hub that is running with this configuration."

    def add_arguments(self, parser: CommandParser) -> None:
        add_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        run = Measurement(
            url=local_url(settings.MEMORYHUB),
            texts=read_texts(options["texts"]),
            scope_size=options["scope_size"],
            compared_size=options["compared_size"],
            calls=options["calls"],
            say=self.stderr.write,
        )
        try:
            figures = run.run()
            if options["timeline_events"]:
                figures["timeline"] = self.timeline(run.url, options)
        except (OSError, RuntimeError) as error:
            raise CommandError(f"The hub at {run.url} did not answer as it should: {error}") from error
        if options["output"]:
            options["output"].write_text(json.dumps(figures, indent=2) + "\n")
        console = Console(file=self.stdout, highlight=False, width=100)  # type: ignore[arg-type]
        console.print(_table(figures))
        if "timeline" in figures:
            console.print(timeline_table(figures["timeline"]))

    def timeline(self, url: str, options: dict[str, Any]) -> dict[str, Any]:
        run = TimelineMeasurement(url, options["timeline_events"], options["calls"], self.stderr.write)
        return run.run()


def add_options(parser: CommandParser, timeline_events: int = 0) -> None:
    """Add the options of a measurement. timeline_events: their default number."""
    parser.add_argument("--texts", type=Path, help="Texts to embed and import: JSON Lines or LoCoMo.")
    parser.add_argument("--scope-size", type=int, default=5_000, help="Memories in the scope searched.")
    parser.add_argument(
        "--compared-size", type=int, default=10_000, help="Memories in the scope in which conflicts are looked for."
    )
    parser.add_argument("--calls", type=int, default=300, help="Calls per figure over HTTP.")
    parser.add_argument(
        "--timeline-events",
        type=int,
        default=timeline_events,
        help="Events of a year of 1,000 users to record and to ask for; they stay in the hub. Default: %(default)s.",
    )
    parser.add_argument("--output", type=Path, help="Write the figures to this file as JSON.")


def read_texts(path: Path | None) -> list[str]:
    """Return the different texts of a file, or synthetic ones. Raises CommandError."""
    if path is None:
        return synthetic_texts(2_000)
    try:
        _, items = read_memories(path)
    except UnreadableFileError as error:
        raise CommandError(str(error)) from error
    return list(dict.fromkeys(item.draft.content for item in items if isinstance(item, PlacedDraft)))


def _table(figures: dict[str, Any]) -> Table:
    table = Table(title=f"{figures['texts']} texts; a scope of {figures['scope_size']} memories")
    table.add_column("what")
    table.add_column("figure", justify="right")
    batch, search, save = figures["batch"], figures["search_http"], figures["save_http"]
    comparison, compared = figures["comparison"], figures["save_http_compared"]
    size = figures["compared_size"]
    table.add_row("embedder alone, texts a second", str(batch["embedder_per_second"]))
    table.add_row("import, texts a second", str(batch["import_per_second"]))
    table.add_row("import / embedder", str(batch["import_over_embedder"]))
    table.add_row("text search over HTTP, p50 / p95 ms", f"{search['p50_ms']} / {search['p95_ms']}")
    table.add_row("searches a second, 16 clients", str(figures["search_http_16_clients_per_second"]))
    table.add_row("single save over HTTP, p50 / p95 ms", f"{save['p50_ms']} / {save['p95_ms']}")
    table.add_row(f"... among {size} memories", f"{compared['p50_ms']} / {compared['p95_ms']}")
    table.add_row("detection of conflicts there, p50 / p95 ms", f"{comparison['p50_ms']} / {comparison['p95_ms']}")
    return table


def timeline_table(figures: dict[str, Any]) -> Table:
    table = Table(title=f"{figures['events']} events of {figures['users']} users")
    table.add_column("what")
    table.add_column("figure", justify="right")
    record, archive, late = figures["record"], figures["archive"], figures["late"]
    week, http = figures["week_in_process"], figures["week_http"]
    table.add_row("recording in batches of 1,000, events a second", str(record["per_second"]))
    table.add_row("late events, a half known, events a second", str(late["per_second"]))
    table.add_row("sealing and archiving, seconds", str(archive["seconds"]))
    table.add_row("share archived", str(archive["archived_share"]))
    table.add_row("archive / index in memory, bytes an event", _bytes(archive))
    table.add_row("loading the index, ms", str(archive["load_ms"]))
    table.add_row("a week of one user in process, p50 / p95 ms", f"{week['p50_ms']} / {week['p95_ms']}")
    table.add_row("the same over HTTP, p50 / p95 ms", f"{http['p50_ms']} / {http['p95_ms']}")
    return table


def _bytes(archive: dict[str, Any]) -> str:
    return f"{archive['bytes_per_event']} / {archive['index_bytes_per_event']}"
