"""Do what must be done before the hub can answer."""

import dataclasses
import json
import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.file_roots import HostUnfitError
from apps.llm.services import EmbeddingSpaceMismatchError
from apps.notes.services import NotesOwnerError
from memoryhub.postgres.check import DatabaseUnfitError
from memoryhub.process.prepare import PATIENCE_SECONDS, PreparationBusyError, prepare

UNFIT = (DatabaseUnfitError, PreparationBusyError, EmbeddingSpaceMismatchError, HostUnfitError, NotesOwnerError)


class Command(BaseCommand):
    help = (
        "Migrate the database, prepare the embedding model, collect static files, and create the first "
        "credentials. `up` does this too; run it after an update if you start the servers yourself."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--credentials-fd",
            type=int,
            help="Write the first credentials as JSON to this file descriptor instead of printing them.",
        )

        parser.add_argument(
            "--adopt-files",
            action="store_true",
            help="Take the folders of the timeline and of notes for those of this database, whatever is in them. What "
            "they do not have then counts as lost.",
        )

        parser.add_argument(
            "--wait",
            type=float,
            default=PATIENCE_SECONDS,
            metavar="SECONDS",
            help="How long to wait while another machine prepares the database (default: %(default)g).",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            credentials = prepare(adopt_files=options["adopt_files"], patience=options["wait"])
        except UNFIT as error:
            raise CommandError(str(error)) from error
        if options["credentials_fd"] is None:
            credentials.print()
            return
        with os.fdopen(options["credentials_fd"], "w") as file:
            json.dump(dataclasses.asdict(credentials), file)
