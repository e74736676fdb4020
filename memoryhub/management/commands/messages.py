"""Write the catalogs of translated words, or say what they lack."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser


class Command(BaseCommand):
    help = (
        "Update the translation catalogs from templates, modules and scripts, and compile them. For "
        "development: needs Babel."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="Write nothing; fail if a text is missing, untranslated or fuzzy."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        # Installations have no Babel.
        from memoryhub.messages.catalogs import renewed, write
        from memoryhub.messages.faults import faults_of, faults_of_message
        from memoryhub.messages.places import places

        if options["check"]:
            faults = faults_of(places())
            for fault in faults:
                self.stderr.write(fault)
            if faults:
                raise CommandError(f"{len(faults)} faults in the catalogs.")
            return
        for place in places():
            catalog = renewed(place)
            written = "written" if write(place, catalog) else "unchanged"
            left = sum(1 for message in catalog if message.id and list(faults_of_message(message)))
            self.stdout.write(f"{place.name}: {len(catalog)} words, {left} with faults, {written}")
