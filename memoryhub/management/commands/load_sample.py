"""Load the sample household."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.domain.errors import MemoryHubError
from apps.core.terminal import progress_bar
from memoryhub.sample import HOUSEHOLD, USERS, LoadReport, load_sample, read_sample


class Command(BaseCommand):
    help = (
        "Load a sample household to look around in: memories, conflicts with their receipts, and events of the "
        "last two months. What is already stored is not added again. `unload_sample` removes it."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with progress_bar("Loading memories", len(read_sample("memories")), self.stderr) as advance:
                report = load_sample(advance=advance)
        except MemoryHubError as error:
            raise CommandError(error.detail) from error
        self.stdout.write(summary(report))


def summary(report: LoadReport) -> str:
    """Return what was added, and where to see it."""
    if not report.memories and not report.events:
        return (
            f"The sample household was loaded on {report.day.isoformat()}; nothing was added. "
            "For newer dates, run `manage.py unload_sample` first."
        )
    return (
        f"{report.memories} memories and {report.events} events of {len(USERS)} people added as {HOUSEHOLD}. "
        f"{report.decided} conflicts were decided, {report.noticed} only noticed: see Conflicts in the admin."
    )
