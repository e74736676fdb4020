"""Do what must be done before the hub can answer."""

import dataclasses
import json
import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.llm.services import EmbeddingSpaceMismatchError
from memoryhub.postgres.check import DatabaseUnfitError
from memoryhub.process.prepare import Credentials, prepare
from memoryhub.process.terminal import print_credentials


class Command(BaseCommand):
    help = (
        "Migrate the database, prepare the embedding model, collect static files, and make the first "
        "credentials. `up` does this by itself; run it after an update when you start the servers yourself."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--credentials-fd",
            type=int,
            help="Write the first credentials as JSON to this file descriptor instead of printing them.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            credentials = prepare()
        except (DatabaseUnfitError, EmbeddingSpaceMismatchError) as error:
            raise CommandError(str(error)) from error
        self._hand_over(credentials, options["credentials_fd"])

    def _hand_over(self, credentials: Credentials, descriptor: int | None) -> None:
        fields = dataclasses.asdict(credentials)
        if descriptor is None:
            print_credentials(**fields)
            return
        with os.fdopen(descriptor, "w") as file:
            json.dump(fields, file)
