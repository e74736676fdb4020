"""Destroy all memories of a user."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.domain.scope import Scope, system_access
from apps.semantic.models import Memory
from apps.semantic.services import memories_purge


class Command(BaseCommand):
    help = "Remove every memory of a user for good, with vectors and history. This cannot be undone."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user")
        parser.add_argument("--household", help="Only memories of this household.")
        parser.add_argument("--persona", help="Only memories of this persona.")
        parser.add_argument("--yes", action="store_true", help="Remove them; without this, only print how many.")

    def handle(self, *args: Any, **options: Any) -> None:
        scope = Scope(options["user"], options["household"], options["persona"])
        count = Memory.objects.in_scope(scope).count()
        if not count:
            raise CommandError("There is no such memory.")
        if not options["yes"]:
            raise CommandError(f"This would remove {count} memories for good. Add --yes to do it.")
        self.stdout.write(f"{memories_purge(access=system_access('purge'), scope=scope)} memories removed.")
