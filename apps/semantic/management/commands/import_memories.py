"""Import memories from a file."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import system_access
from apps.core.terminal import progress_bar
from apps.semantic.imports.files import UnreadableFileError, read_memories
from apps.semantic.imports.importer import BATCH_SIZE, import_memories


class Command(BaseCommand):
    help = (
        "Import memories: JSON Lines (one memory per line, as in POST /api/semantic/memories) or a LoCoMo file "
        "(one memory per turn). An existing memory is skipped, or updated if the file has a "
        "higher confidence, so repeat an import to resume it after an interruption."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--user-prefix", default="", help="Prefix for the sample ids of a LoCoMo file.")
        parser.add_argument("--batch-size", type=int, default=BATCH_SIZE, help="Memories per transaction.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            total, items = read_memories(options["file"], options["user_prefix"])
            access = system_access("import", vouches=WriteOrigin.PERSON, makes_ties=True)
            size = max(1, options["batch_size"])
            with progress_bar("Importing", total, self.stderr) as advance:
                report = import_memories(access, items, progress=advance, batch_size=size)
        except (UnreadableFileError, MemoryHubError) as error:
            raise CommandError(str(error)) from error
        for bad in report.errors:
            self.stderr.write(f"{bad.place}: {bad.reason}")
        always = ("inserted", "updated", "skipped")
        parts = [f"{report.actions[action]} {action}" for action in always]
        # Decisions about memories that disagree, if there were any.
        decided = sorted(report.actions.keys() - set(always))
        parts += [f"{report.actions[action]} {action.replace('_', ' ')}" for action in decided]
        self.stdout.write(", ".join([*parts, f"{report.failed} failed"]))
        if report.noticed:
            self.stdout.write(
                f"{report.noticed} of the inserted memories disagree with others; see the conflicts in the admin."
            )
        if report.failed:
            raise CommandError(f"{report.failed} of {report.total} could not be imported.")
