"""Export a person, or the whole hub."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import IDENTIFIERS, Scope, system_access
from apps.core.files import new_file
from apps.core.personal.export import encode_line, export_lines, parse_filters, permitted_export
from apps.core.personal.store import ExportRequest


class Command(BaseCommand):
    help = (
        "Export memories with their history, receipts and events as JSON Lines, as of one moment. "
        "Without an identifier, export the whole hub, with its rules and policies. `manage.py import`"
        " reads it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", dest="user_id", help="Only what belongs to this user.")
        parser.add_argument("--household", dest="household_id", help="Only what belongs to this household.")
        parser.add_argument("--persona", dest="persona_id", help="Only what belongs to this persona.")
        parser.add_argument("--filter", help='Filters as JSON: {"memories": {"project": "garden"}}')
        parser.add_argument(
            "--vectors", action="store_true", help="Include vectors, so that an import need not compute them."
        )
        parser.add_argument("--output", type=Path, help="Write to this new file; without it, print.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            written, filters = parse_filters(options["filter"]) if options["filter"] else ({}, {})
            scope = Scope(*(options[name] or None for name in IDENTIFIERS))
            asked = ExportRequest(scope, filters, written, options["vectors"])
            end = self.write(asked, options["output"])
        except MemoryHubError as error:
            raise CommandError(error.detail) from error
        counts = ", ".join(f"{count} {kind}" for kind, count in end["lines"].items()) or "nothing"
        self.stderr.write(f"Exported: {counts}.")
        if not end["complete"]:
            raise CommandError(
                "Events may be missing: a damaged segment could not be read. Repair it with "
                "`manage.py timeline doctor --repair`, then export again."
            )

    def write(self, asked: ExportRequest, output: Path | None) -> dict[str, Any]:
        """Write the lines, and return the last one."""
        line: dict[str, Any] = {}
        with new_file(output) if output else nullcontext(sys.stdout.buffer) as file:
            for line in export_lines(asked, permitted_export(system_access("export"), asked)):
                file.write(encode_line(line))
        return line
