"""Create, bind and list accounts, and help people back in."""

from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.accounts import services
from apps.accounts.selectors import all_roles, second_factors
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Scope
from apps.core.pages.addresses import machine_address

BOUND = ("user", "household", "persona")


class Command(BaseCommand):
    help = (
        "Manage people's accounts: create one with a role and a bound, list them, change role or "
        "bound, make a link to choose a password, remove a lost second factor, sign out everywhere."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        steps = parser.add_subparsers(dest="subcommand", required=True)
        steps.add_parser("list", help="list all accounts with role, bound, second factor and sessions")
        for step, text in (
            ("create", "create an account, and print the link to choose its password"),
            ("person", "invite a person to their own pages, and print the link by which they make their account"),
            ("role", "give an account another role; an empty name removes it"),
            ("bind", "limit an account to what matches; without options it sees everything"),
            ("link", "print a link to choose a password, which works once, for a day"),
            ("reset-second-factor", "remove second factor and recovery codes, and sign out everywhere"),
            ("sign-out", "sign an account out everywhere"),
        ):
            one = steps.add_parser(step, help=text)
            one.add_argument("name", help="the name that the person signs in with")
            if step in {"create", "role"}:
                one.add_argument("role", help=", ".join(role.name for role in all_roles()))
            if step == "person":
                one.add_argument("user", help="the user whose pages these are")
                one.add_argument("--household", default="", help="the household that they belong to")
                one.add_argument("--language", default="", help=", ".join(code for code, _ in settings.LANGUAGES))
            if step in {"create", "bind"}:
                for part in BOUND:
                    one.add_argument(f"--{part}", help=f"only what belongs to this {part}")
                one.add_argument("--reads", action="append", default=[], help="another owner that it may read")

    def handle(self, *args: Any, **options: Any) -> None:
        step = options["subcommand"].replace("-", "_")
        try:
            self.stdout.write(getattr(self, f"do_{step}")(options))
        except MemoryHubError as error:
            raise CommandError(error.detail) from error

    def do_list(self, options: dict[str, Any]) -> str:
        """Return a line for each account."""
        lines = []
        for login in get_user_model().objects.select_related("account").prefetch_related("groups").order_by("username"):
            role = "superuser" if login.is_superuser else ", ".join(group.name for group in login.groups.all())
            factor = " and ".join(second_factors(login.pk)) or "no second factor"
            bound = getattr(login, "account", None) or "everything"
            state = "" if login.is_active else ", switched off"
            sessions = UserSession.objects.filter(user=login.pk).count()
            lines.append(f"{login.username}: {role or 'no role'}, sees {bound}, {factor}, {sessions} sessions{state}")
        return "\n".join(lines) or "There are no accounts."

    def do_create(self, options: dict[str, Any]) -> str:
        """Create an account, and return its link."""
        login = services.account_create(
            username=options["name"], role=options["role"], scope=scope_of(options), reads=options["reads"]
        )
        return f"{login.username} was created. To choose a password, once, within a day:\n{absolute_link(login)}"

    def do_person(self, options: dict[str, Any]) -> str:
        """Invite a person, and return the link of the invitation."""
        invitation, token = services.invitation_create(
            username=options["name"],
            person_id=options["user"],
            household_id=options["household"],
            language=options["language"],
            invited_by="command",
        )
        until = f"{invitation.expires_at:%Y-%m-%d %H:%M} UTC"
        return (
            f"{invitation.username} is invited. To make the account, once, until {until}:\n"
            f"{absolute(services.invitation_path(token))}"
        )

    def do_role(self, options: dict[str, Any]) -> str:
        """Change the role of an account."""
        login = services.account_find(options["name"])
        services.account_set_role(login=login, role=options["role"])
        return f"{login.username} is now {options['role'] or 'without a role'}."

    def do_bind(self, options: dict[str, Any]) -> str:
        """Change the bound of an account."""
        login = services.account_find(options["name"])
        services.account_bind(login=login, scope=scope_of(options), reads=options["reads"])
        return f"{login.username} sees {getattr(services.account_find(login.username), 'account', 'everything')} now."

    def do_link(self, options: dict[str, Any]) -> str:
        """Return a link to choose a password."""
        return absolute_link(services.account_find(options["name"]))

    def do_reset_second_factor(self, options: dict[str, Any]) -> str:
        """Remove second factors."""
        removed = services.second_factor_reset(login=services.account_find(options["name"]))
        return f"{removed} second factors of {options['name']} removed; it was signed out everywhere."

    def do_sign_out(self, options: dict[str, Any]) -> str:
        """End sessions."""
        ended = services.sessions_end(login=services.account_find(options["name"]))
        return f"{ended} sessions of {options['name']} ended."


def scope_of(options: dict[str, Any]) -> Scope:
    """Return the bound that the options name."""
    return Scope(*(options[part] or None for part in BOUND))


def absolute_link(login: Any) -> str:
    """Return the whole address of a link to choose a password."""
    return absolute(services.password_link(login=login))


def absolute(path: str) -> str:
    """Return the whole address of a page."""
    return (settings.MEMORYHUB.public_url or machine_address()) + path
