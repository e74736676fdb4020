"""Measure the background of the active embedding space, by which the relevance of hits is judged."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.domain.errors import UnavailableError
from apps.semantic.store.background import backgrounds_path, measure_space, write_background
from apps.semantic.store.embedding_space import current_space


class Command(BaseCommand):
    help = (
        "Measure how near the vectors of unrelated sentences are in the embedding space in use. Searches"
        " judge by it how relevant a hit is. The first search of a space does this by itself; run the command when a"
        " model behind the same name has changed, and start the processes again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="Only show what would be written.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            space = current_space()
            background = measure_space()
        except UnavailableError as error:
            raise CommandError(str(error.detail)) from error
        self.stdout.write(
            f"{space.space_id}: unrelated sentences have cosines of {background.mean:.3f}, "
            f"give or take {background.spread:.3f}."
        )
        if not options["dry_run"]:
            write_background(space, background)
            self.stdout.write(f"Written to {backgrounds_path()}.")
