"""Build the embedding model's file, or check the one that is there."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from apps.llm.domain.embedder import EmbeddingUnavailableError
from apps.llm.embedding.e5.embedder import E5Embedder
from apps.llm.embedding.embedder import get_embedder
from apps.llm.embedding.minilm.embedder import MiniLMEmbedder
from apps.llm.embedding.minilm.preparation import prepare
from apps.llm.embedding.minilm.source import Precision


class Command(BaseCommand):
    help = (
        "Build the embedding model's file in the data directory, or check the existing one. `up` does"
        " this too, and so does embedding the first text."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--precision",
            choices=[str(precision) for precision in Precision],
            help="Default: MEMORYHUB_MINILM_PRECISION.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        quiet = options["verbosity"] == 0
        try:
            embedder = get_embedder()
            if isinstance(embedder, E5Embedder) and options["precision"] is None:
                embedder.check()
                if not quiet:
                    self.stdout.write("The files of e5, which come with MemoryHub, are whole.")
                return
        except EmbeddingUnavailableError as error:
            raise CommandError(str(error)) from error
        if not isinstance(embedder, MiniLMEmbedder) and options["precision"] is None:
            if not quiet:
                self.stdout.write(f"Nothing to prepare: MEMORYHUB_EMBEDDER is {settings.MEMORYHUB.embedding.embedder}.")
            return
        precision = Precision(options["precision"] or embedder.space.model.partition("/")[2])
        models_dir = Path(settings.MODELS_DIR)
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), disable=quiet, transient=True) as progress:
            task = progress.add_task("", total=1.0)
            try:
                path = prepare(
                    models_dir,
                    precision,
                    lambda doing, share: progress.update(task, description=doing, completed=share),
                )
            except EmbeddingUnavailableError as error:
                raise CommandError(str(error)) from error
            except OSError as error:
                raise CommandError(f"{models_dir} cannot be used: {error.strerror}.") from error
        if not quiet:
            self.stdout.write(f"{path} is ready.")
