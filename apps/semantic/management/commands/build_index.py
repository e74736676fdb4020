"""Make the graphs of users with many memories beforehand."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.domain.errors import UnavailableError
from apps.core.terminal import progress_bar
from apps.retrieval.domain import planner
from apps.semantic.index.build import Built, GraphNotBuiltError, LargeUser, build_graph, find_large_users
from apps.semantic.store.embedding_space import current_space


class Command(BaseCommand):
    help = (
        "Make the graphs by which the memories of large users are searched, and leave them on the disk for the web "
        "processes, which would otherwise make them when they are first asked. Those that are there and fit are kept. "
        "Use it before the first start with restored or copied data; it may run beside the hub."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", help="Only the graph of this user.")
        parser.add_argument("--anew", action="store_true", help="Make those anew that are there, too.")

    def handle(self, *args: Any, **options: Any) -> None:
        users = find_large_users(options["user"])
        if not users:
            who = "Nobody has" if options["user"] is None else "This user does not have"
            self.stdout.write(f"{who} {planner.GRAPH_ROWS} memories, from which on a graph is made.")
            return
        for number, user in enumerate(users, 1):
            built = self._build(user, f"Graph {number} of {len(users)}", anew=options["anew"])
            self.stdout.write(_said(built))

    def _build(self, user: LargeUser, title: str, *, anew: bool) -> Built | None:
        try:
            with progress_bar(title, user.memories, self.stderr) as advance:
                return build_graph(user.user, current_space(), advance, anew=anew)
        except (GraphNotBuiltError, OSError, UnavailableError) as error:
            raise CommandError(f"The graph could not be made: {error}") from error


def _said(built: Built | None) -> str:
    if built is None:
        return "Another process sees to this graph."
    return f"{built.rows} memories: loaded in {built.load:.1f} s, graph ready in {built.graph:.1f} s."
