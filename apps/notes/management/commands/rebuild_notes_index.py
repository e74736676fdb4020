"""Make the search index of notes again from the files."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.domain.errors import MemoryHubError
from apps.core.terminal import progress_bar
from apps.notes.files.watch import find_users
from apps.notes.services import index_rebuild


class Command(BaseCommand):
    help = (
        "Delete the search indexes of notes and rebuild them from the files. Nothing is lost; the hub may keep running."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", help="Only the index of this user.")

    def handle(self, *args: Any, **options: Any) -> None:
        users = find_users() if options["user"] is None else [options["user"]]
        for number, user in enumerate(users, 1):
            self._rebuild(user, f"Index {number} of {len(users)}")
        self.stdout.write(f"{len(users)} indexes were rebuilt.")

    def _rebuild(self, user: str, title: str) -> None:
        """Make one index again. The number of files is known with the first progress."""
        bars: list[Any] = []
        last = 0

        def advance(done: int, total: int) -> None:
            nonlocal last
            if not bars:
                bars.append(progress_bar(title, total, self.stderr))
                bars.append(bars[0].__enter__())
            bars[1](done - last)
            last = done

        try:
            index_rebuild(user, progress=advance)
        except MemoryHubError as error:
            raise CommandError(f"The index could not be built: {error.detail}") from error
        finally:
            if bars:
                bars[0].__exit__(None, None, None)
