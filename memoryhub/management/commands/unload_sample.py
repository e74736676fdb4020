"""Take the sample household away."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.domain.errors import MemoryHubError
from memoryhub.sample import USERS, unload_sample


class Command(BaseCommand):
    help = (
        "Remove the sample household for good: everything stored for its people "
        f"({', '.join(USERS)}), including what was saved for them since. Nothing else is touched."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = unload_sample()
        except MemoryHubError as error:
            raise CommandError(error.detail) from error
        if not report.memories and not report.events:
            self.stdout.write("There is no sample household; nothing was removed.")
            return
        self.stdout.write(f"{report.memories} memories and {report.events} events of the sample household removed.")
