"""Restore a backup, or see that it can be restored."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from apps.core.management.subcommands import count_of
from memoryhub.backup.restore import backup_check, backup_restore


class Command(BaseCommand):
    help = "Restore a backup into an empty data directory. Nothing that exists is replaced."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="The ZIP file that `manage.py backup` has written.")
        parser.add_argument(
            "--check", action="store_true", help="Restore it into a scratch place only, compare it, and remove that."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        manifest = (backup_check if options["check"] else backup_restore)(options["path"])
        rows, files = count_of(sum(manifest.rows.values()), "row"), count_of(len(manifest.files), "file")
        if options["check"]:
            self.stdout.write(f"{options['path']} can be restored: {rows}, {files}, made at {manifest.made_at}.")
            return
        self.stdout.write(f"Restored into {settings.MEMORYHUB.data_dir}: {rows}, {files}, made at {manifest.made_at}.")
        if not manifest.has_database:
            self.stdout.write(f"The database was not in it: restore it on your server to {manifest.moment}.")
        if "secret_key" not in manifest.files:
            self.stdout.write("There was no signing key in it: set MEMORYHUB_SECRET_KEY, or everyone signs in again.")
        if settings.MEMORYHUB.files_url:
            self.stdout.write(
                "MEMORYHUB_FILES_URL is set: copy timeline/ of the data directory into that store first, with "
                ".store-id and quarantine/ (docs/operate/several-hosts.md)."
            )
        self.stdout.write("Start it with `manage.py up`; `manage.py doctor --files` examines it.")
