"""Import an export."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.domain.errors import MemoryHubError
from apps.core.personal.load import MAX_LINE_BYTES, import_lines
from apps.core.terminal import progress_bar


class Command(BaseCommand):
    help = (
        "Import what `manage.py export` wrote. What the hub already has stays as it is, so you can "
        "repeat an import that broke off. Rules and policies are imported only into an empty hub."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            with path.open("rb") as file, progress_bar("Importing", path.stat().st_size, self.stderr) as advance:
                report = import_lines(read_lines(file), advance)
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror or type(error).__name__}.") from error
        except MemoryHubError as error:
            raise CommandError(error.detail) from error
        for kind, count in report.read.items():
            skipped = report.skipped[kind]
            rest = "left out, because the hub is not empty" if skipped else f"new of {count}"
            self.stdout.write(f"{kind}: {skipped or report.new[kind]} {rest}")
        if not report.is_complete:
            self.stderr.write("A damaged segment could not be read when the export was made: events may be missing.")


def read_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file; one that is too long in parts, of which the first is refused."""
    return iter(partial(file.readline, MAX_LINE_BYTES + 1), b"")
