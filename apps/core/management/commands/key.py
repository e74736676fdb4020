"""Make an API key for an application."""

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import IDENTIFIERS, Permission, Scope
from apps.core.services import key_create, unused_name


class Command(BaseCommand):
    help = (
        "Make an API key for an application, bound to a person, a household or a persona, and print it, once. "
        "Without any of them it is bound to the default user. Only the key goes to standard output."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the application, such as 'Claude Code'")
        parser.add_argument("--user", dest="user_id", help="the person whose memory it is")
        parser.add_argument("--household", dest="household_id", help="the household that it is bound to")
        parser.add_argument("--persona", dest="persona_id", help="the persona that it is bound to")
        parser.add_argument("--read-only", action="store_true", help="it may read, and write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        scope = Scope(*(options[name] or None for name in IDENTIFIERS))
        if not scope.named():
            if not settings.MEMORYHUB.default_user:
                raise CommandError("This hub has no default user: name one with --user, --household or --persona.")
            scope = Scope(settings.MEMORYHUB.default_user)
        permission = Permission.READ if options["read_only"] else Permission.WRITE
        try:
            name = unused_name(options["name"])
            key, secret = key_create(name=name, scope=scope, permission=permission, actor="command: key")
        except MemoryHubError as error:
            raise CommandError(error.detail) from error
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        bound = ", ".join(f"{name.removesuffix('_id')} {value}" for name, value in scope.named().items())
        self.stderr.write(f"Key {key.name} for {bound}. It is shown only once.")
        self.stdout.write(secret)
