"""Measure searches by vector, side by side with the ways to do without MemoryHub."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console

from apps.core.terminal import progress_bar
from apps.llm.embedding.embedder import get_embedder
from apps.retrieval.domain.content import content_hash
from benchmarks.hub import run_beside_a_hub
from benchmarks.management.commands.measure import read_texts
from benchmarks.vectors.plot import PlottingMissingError, check_plotting, plot_reads
from benchmarks.vectors.run import RealTexts, VectorMeasurement
from benchmarks.vectors.tables import tables_of
from memoryhub.web.command import local_url

SIZES = (100, 10_000, 200_000)
_EMBEDDED_AT_ONCE = 1_024


class Command(BaseCommand):
    help = (
        "The benchmark of searches by vector (docs/explain/benchmarks.md): SQL, hnswlib, numpy, and MemoryHub in "
        "process and over HTTP, in one run, with a hub of its own that is started and removed. Needs a quiet machine "
        "and, with the default sizes, half an hour, 4 GB of memory and 4 GB of disk."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--sizes", type=int, nargs="+", default=SIZES, help="Memories in each scope. Default: %(default)s."
        )
        parser.add_argument("--queries", type=int, default=200, help="Searches by each way with each filter.")
        parser.add_argument("--writes", type=int, default=100, help="Writes by each way.")
        parser.add_argument("--seconds", type=float, default=8.0, help="Spent at most on a way with a filter.")
        parser.add_argument("--texts", type=Path, help="Real texts for the scopes: JSON Lines or LoCoMo.")
        parser.add_argument("--output", type=Path, help="Write the figures to this file as JSON.")
        parser.add_argument("--plot", type=Path, help="Draw them into this file (PNG).")
        parser.add_argument(
            "--here", action="store_true", help="Measure the hub that runs with this configuration instead."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        check(options)
        if options["here"]:
            self.measure(options)
            return
        self.stderr.write("Starting a hub")
        run_beside_a_hub(["bench_vectors", "--here", *given(options)])

    def measure(self, options: Mapping[str, Any]) -> None:
        run = VectorMeasurement(
            url=local_url(settings.MEMORYHUB),
            sizes=options["sizes"],
            queries=options["queries"],
            writes=options["writes"],
            seconds=options["seconds"],
            say=self.stderr.write,
            stream=self.stderr,
            real=None if options["texts"] is None else self.embedded(options["texts"], options["queries"]),
        )
        try:
            figures = run.run()
        except (OSError, RuntimeError) as error:
            raise CommandError(f"The hub at {run.url} did not answer as it should: {error}") from error
        if options["output"]:
            options["output"].write_text(json.dumps(figures, indent=2) + "\n")
        console = Console(file=self.stdout, highlight=False, width=150)  # type: ignore[arg-type]
        for table in tables_of(figures):
            console.print(table)
        if options["plot"]:
            plot_reads(figures, options["plot"])

    def embedded(self, path: Path, queries: int) -> RealTexts:
        # Of texts that count as the same, a scope holds one.
        texts, embedder = list({content_hash(text): text for text in read_texts(path)}.values()), get_embedder()
        if len(texts) < 2 * queries:
            raise CommandError(f"{path} holds {len(texts)} different texts; {2 * queries} are needed.")
        parts = []
        with progress_bar("Embedding", len(texts), self.stderr) as advance:
            for first in range(0, len(texts), _EMBEDDED_AT_ONCE):
                parts.append(embedder.embed(texts[first : first + _EMBEDDED_AT_ONCE]))
                advance(len(parts[-1]))
        return RealTexts(texts, np.concatenate(parts))


def check(options: Mapping[str, Any]) -> None:
    if min(options["sizes"]) < 1 or min(options["queries"], options["writes"]) < 1:
        raise CommandError("Sizes, queries and writes are numbers from 1 on.")
    try:
        if options["plot"]:
            check_plotting()
    except PlottingMissingError as error:
        raise CommandError(str(error)) from error


def given(options: Mapping[str, Any]) -> list[str]:
    sizes = ["--sizes", *(str(size) for size in options["sizes"])]
    named = [
        f"--{name}={options[name]}"
        for name in ("queries", "writes", "seconds", "texts", "output", "plot")
        if options[name] is not None
    ]
    return [*sizes, *named]
