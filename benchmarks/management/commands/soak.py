"""Hold a hub under load for a long time, and count the answers that are cut."""

import json
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.domain.scope import Scope, system_access
from apps.semantic.services import memories_purge
from benchmarks.api import bench_key
from benchmarks.hub import run_beside_a_hub
from benchmarks.soak import MAX_BURNERS, MAX_CLIENTS, MAX_MINUTES, soak
from memoryhub.web.command import local_url


class Command(BaseCommand):
    help = (
        "A soak: clients that search, save, list and send batches without a pause to a hub of its own on this machine, "
        "which is started and removed, beside processes that keep the processors busy. Fails when a request gets no "
        "whole answer."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--clients", type=int, default=16, help=f"1 to {MAX_CLIENTS}. Default: %(default)s.")
        parser.add_argument("--minutes", type=float, default=30.0, help=f"At most {MAX_MINUTES}. Default: %(default)s.")
        parser.add_argument(
            "--burners", type=int, default=8, help=f"Busy processes, 0 to {MAX_BURNERS}. Default: %(default)s."
        )
        parser.add_argument("--users", type=int, default=4, help="Users of the clients. Default: %(default)s.")
        parser.add_argument(
            "--here", action="store_true", help="Use the hub that runs with this configuration instead."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        check(options)
        if not options["here"]:
            self.stderr.write("Starting a hub")
            names = ("clients", "minutes", "burners", "users")
            run_beside_a_hub(["soak", "--here", *(f"--{name}={options[name]}" for name in names)])
            return
        users = [f"soak-{uuid4()}" for _ in range(options["users"])]
        with bench_key() as key:
            try:
                url = local_url(settings.MEMORYHUB)
                figures = soak(
                    url, key, users, options["clients"], options["minutes"], options["burners"], self.stderr.write
                )
            finally:
                for user in users:
                    memories_purge(access=system_access("bench"), scope=Scope(user))
        self.stdout.write(json.dumps(figures, indent=2))
        if figures["cut"]:
            raise CommandError(f"{figures['cut']} requests got no whole answer.")


def check(options: dict[str, Any]) -> None:
    """Raise CommandError for numbers out of their range."""
    ranges = {"clients": (1, MAX_CLIENTS), "minutes": (0, MAX_MINUTES), "burners": (0, MAX_BURNERS), "users": (1, 64)}
    for name, (low, high) in ranges.items():
        if not low <= options[name] <= high:
            raise CommandError(f"--{name} must be {low} to {high}.")
