"""Forget a person."""

import json
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.domain.errors import MemoryHubError
from apps.core.terminal import progress_bar
from apps.people.models import Erasure
from apps.people.schemas.erasures import render_certificate
from apps.people.selectors import erasure_obstacles
from apps.people.services import erasure_preview, erasure_request, erasure_run

SECONDS_BETWEEN_TRIES = 2.0
TRIES = 30


class Command(BaseCommand):
    help = "Remove everything that the hub has of a user for good, and print a certificate. This cannot be undone."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user")
        parser.add_argument("--yes", action="store_true", help="Do not ask for the id again.")
        parser.add_argument("--dry-run", action="store_true", help="Only show how much there is in each store.")

    def handle(self, *args: Any, **options: Any) -> None:
        user = options["user"]
        found = erasure_preview(user)
        for store, count in found.items():
            self.stdout.write(f"{store:>16} {count:>10,}")
        if options["dry_run"]:
            for problem in erasure_obstacles(user):
                self.stdout.write(f"in the way: {problem}")
            return
        if not options["yes"] and input("This cannot be undone. Type the id again to forget this user: ") != user:
            raise CommandError("The ids differ. Nothing was removed.")
        try:
            erasure = erasure_request(user_id=user, actor="command: forget", enqueue=False)
        except MemoryHubError as error:
            raise CommandError(error.detail) from error
        erasure = self.run(erasure, sum(found.values()))
        if erasure.is_open or erasure.problems:
            raise CommandError("; ".join(erasure.problems) or "A worker is carrying it out: see GET /api/erasures.")
        self.stdout.write(json.dumps(render_certificate(erasure), indent=2))

    def run(self, erasure: Erasure, total: int) -> Erasure:
        """Run it to its end with a progress bar, waiting for a worker that is at it or for maintenance."""
        with progress_bar("Forgetting", total, self.stderr) as advance:
            for number in range(TRIES):
                if number:
                    time.sleep(SECONDS_BETWEEN_TRIES)
                erasure = erasure_run(erasure_id=erasure.pk, progress=lambda _, count: advance(count), seconds=None)
                if not erasure.is_open:
                    break
        return erasure
