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
        "Make new vectors for all memories with the configured embedding model and switch to them. Searches continue "
        "with the old ones until the end; a run that was cut off continues where it stopped. Vectors that writers sent "
        "are replaced as well. Afterwards start the hub with the new configuration."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        embedder = get_embedder()
        before = active_space()
        try:
            with progress_bar("Embedding", reembed_needed(embedder), self.stderr) as advance:
                made = reembed(embedder=embedder, progress=advance)
        except EmbeddingError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{made} vectors made by {embedder.space.model}; before: {before or 'none'}.")
