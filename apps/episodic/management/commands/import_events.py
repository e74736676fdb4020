"""Import events from a file."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import system_access
from apps.core.terminal import progress_bar
from apps.episodic.services import events_import

CHUNK = 1 << 20
MAX_SHOWN = 20


class Command(BaseCommand):
    help = (
        "Import events: JSON Lines, one event per line, as in POST /api/episodic/events or as `timeline export` writes "
        "them. An event that is already recorded counts as a duplicate, so repeat an import to "
        "resume it after an interruption."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        """Import a file. Raises CommandError when it cannot be read, or when a line could not be recorded."""
        path: Path = options["file"]
        access = system_access("import", vouches=WriteOrigin.PERSON, makes_ties=True)
        try:
            with path.open("rb") as file:  # about as many lines, blank ones included
                lines = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(CHUNK), b"")) or 1
            with path.open("rb") as file, progress_bar("Importing", lines, self.stderr) as advance:
                report = events_import(access=access, stream=file, progress=advance)
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror or type(error).__name__}.") from error
        except MemoryHubError as error:
            raise CommandError(str(error)) from error
        for problem in report.problems[:MAX_SHOWN]:
            self.stderr.write(f"line {problem.line}: {problem.attr or 'line'}: {problem.detail}")
        self.stdout.write(f"{report.recorded} recorded, {report.duplicates} duplicates, {report.failed} failed")
        if report.failed:
            raise CommandError(f"{report.failed} of {report.lines} could not be imported.")
