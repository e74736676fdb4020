"""Build the graphs of users with many memories ahead of time."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.domain.errors import UnavailableError
from apps.core.terminal import progress_bar
from apps.retrieval.domain import planner
from apps.semantic.index.build import BuildReport, GraphNotBuiltError, build_graph, find_large_users
from apps.semantic.store.embedding_space import current_space


class Command(BaseCommand):
    help = (
        "Build the graphs for searching the memories of large users, and store them on the disk for "
        "the web processes, which would otherwise build them at the first search. Usable graphs are "
        "kept. Run it before the first start with restored or copied data; the hub may keep running."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", help="Only the graph of this user.")
        parser.add_argument("--rebuild", action="store_true", help="Rebuild existing graphs too.")

    def handle(self, *args: Any, **options: Any) -> None:
        users = find_large_users(options["user"])
        if not users:
            who = "No user has" if options["user"] is None else "This user does not have"
            self.stdout.write(f"{who} {planner.GRAPH_ROWS} memories, the fewest for a graph.")
            return
        for number, (user, memories) in enumerate(users, 1):
            built = self._build(user, memories, f"Graph {number} of {len(users)}", rebuild=options["rebuild"])
            if built is None:
                self.stdout.write("Another process is building this graph.")
            else:
                loaded = f"{built.rows} memories: loaded in {built.load:.1f} s"
                self.stdout.write(f"{loaded}, graph ready in {built.graph:.1f} s.")

    def _build(self, user: str, memories: int, title: str, *, rebuild: bool) -> BuildReport | None:
        try:
            with progress_bar(title, memories, self.stderr) as advance:
                return build_graph(user, current_space(), advance, rebuild=rebuild)
        except (GraphNotBuiltError, OSError, UnavailableError) as error:
            raise CommandError(f"The graph could not be built: {error}") from error
