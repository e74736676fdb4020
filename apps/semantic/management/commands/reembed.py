"""Make vectors with the configured model for all memories, then search with them."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.terminal import progress_bar
from apps.llm.domain.embedder import EmbeddingError
from apps.llm.selectors import active_space
from apps.llm.services import build_embedder, get_embedder
from apps.semantic.memories.reembed import reembed, reembed_needed

LOCAL = ("e5", "minilm")


class Command(BaseCommand):
    help = (
        "Compute new vectors for all memories with the configured embedding model, then switch to "
        "them. Searches use the old ones until then; an interrupted run continues where it stopped. "
        "Vectors sent by writers are replaced too. Afterwards start the hub with the new "
        "configuration; one that names no embedder uses that of the vectors."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--embedder", choices=LOCAL, help="With this one. Default: the configured one.")

    def handle(self, *args: Any, **options: Any) -> None:
        before, wanted = active_space(), options["embedder"]
        try:
            embedder = build_embedder(wanted) if wanted else get_embedder()
            with progress_bar("Embedding", reembed_needed(embedder), self.stderr) as advance:
                made = reembed(embedder=embedder, progress=advance)
        except EmbeddingError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{made} vectors computed by {embedder.space.model}; before: {before or 'none'}.")
        if wanted and settings.MEMORYHUB.embedding.embedder not in ("auto", wanted):
            self.stdout.write(f"Remove MEMORYHUB_EMBEDDER, or set it to {wanted}, before the hub starts again.")
