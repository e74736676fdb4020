"""Make a backup of the whole hub."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from apps.core.management.subcommands import count_of
from memoryhub.backup.archive import BackupError
from memoryhub.backup.make import Made, backup_make
from memoryhub.backup.restore import backup_check


class Command(BaseCommand):
    help = "Write database, timeline, notes and secrets of a hub into one file, while it runs or while it is stopped."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "path",
            type=Path,
            help="The ZIP file to write, which must not exist yet; a folder gets one with the time in its name.",
        )
        parser.add_argument(
            "--verify",
            action="store_true",
            help="Restore it into a scratch place and compare the rows, before it gets its name.",
        )
        parser.add_argument(
            "--without-secrets",
            action="store_true",
            help="Leave the signing key and the secrets of sources out: keep them elsewhere.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        made = backup_make(
            options["path"],
            secrets=not options["without_secrets"],
            check=backup_check if options["verify"] else None,
        )
        for line in describe(made, is_verified=options["verify"]):
            self.stdout.write(line)
        if made.manifest.damaged:
            raise BackupError(
                f"The backup was made, and {count_of(len(made.manifest.damaged), 'segment file')} of the timeline "
                "was damaged or missing before. See `manage.py timeline doctor`."
            )


def describe(made: Made, *, is_verified: bool) -> list[str]:
    """Return what is in a backup, and what is not."""
    manifest = made.manifest
    parts = [
        *([count_of(sum(manifest.rows.values()), "row")] if manifest.has_database else []),
        count_of(manifest.count("timeline"), "segment file"),
        count_of(manifest.count("prompts"), "file") + " of notes",
    ]
    lines = [f"{made.path}: {', '.join(parts)}; {made.size / 1_000_000:,.1f} MB."]
    if is_verified:
        every = "every row and every file" if manifest.has_database else "every file"
        lines.append(f"It was restored into a scratch place, and has {every}.")
    if not manifest.has_database:
        lines.append(
            f"The database is not in it: your server keeps it. Restore it to {manifest.moment}, which these files fit."
        )
    if made.own_key:
        lines.append("MEMORYHUB_SECRET_KEY is set, so the signing key is not in it: keep it elsewhere.")
    elif not manifest.has_secrets:
        lines.append("The signing key and secrets of sources are not in it: keep them elsewhere.")
    if manifest.left_out:
        lines.append(f"{count_of(manifest.left_out, 'link')} among the notes was left out." if manifest.left_out == 1
                     else f"{manifest.left_out:,} links among the notes were left out.")  # fmt: skip
    return lines
