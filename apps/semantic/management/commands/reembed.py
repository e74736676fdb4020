"""Make vectors with the configured model for all memories, then search with them."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.terminal import progress_bar
from apps.llm.domain.embedder import EmbeddingError
from apps.llm.selectors import active_space
from apps.llm.services import get_embedder
from apps.semantic.memories.reembed import reembed, reembed_needed


class Command(BaseCommand):
    help = (
        "Compute new vectors for all memories with the configured embedding model, then switch to "
        "them. Searches use the old ones until then; an interrupted run continues where it stopped. "
        "Vectors sent by writers are replaced too. Afterwards start the hub with the new "
        "configuration."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        embedder = get_embedder()
        before = active_space()
        try:
            with progress_bar("Embedding", reembed_needed(embedder), self.stderr) as advance:
                made = reembed(embedder=embedder, progress=advance)
        except EmbeddingError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{made} vectors computed by {embedder.space.model}; before: {before or 'none'}.")
