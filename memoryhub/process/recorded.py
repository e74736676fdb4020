"""Commands whose use is recorded in the audit: all of ours but those that only read, and some of Django's."""

import getpass
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from django.core.management import ManagementUtility, get_commands
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from memoryhub.audit import FOREIGN_COMMANDS, NAMELESS_COMMANDS, OBJECTS_OF_COMMANDS, READING_COMMANDS

OUR_APPS = ("apps.", "memoryhub", "benchmarks")
# Where a command takes whose data it is about.
SCOPE_OPTIONS = {
    "user_id": ("user_id", "user"),
    "household_id": ("household_id", "household"),
    "persona_id": ("persona_id", "persona"),
}


class RecordedUtility(ManagementUtility):
    """Django's command line, which records the commands that change something."""

    def fetch_command(self, subcommand: str) -> BaseCommand:
        """Return a command, as one that is recorded if it is to be."""
        command = super().fetch_command(subcommand)
        if is_recorded(subcommand):
            run = command.execute

            def execute(*args: Any, **options: Any) -> Any:
                if f"{subcommand} {options.get('subcommand')}" in READING_COMMANDS:
                    return run(*args, **options)
                return run_recorded(lambda: run(*args, **options), subcommand, options, self.argv)

            command.execute = execute  # type: ignore[method-assign]
        return command


def is_recorded(name: str) -> bool:
    """Return whether the use of a command is recorded."""
    app = get_commands().get(name, "")
    owner = app if isinstance(app, str) else app.__module__
    return name in FOREIGN_COMMANDS or (owner.startswith(OUR_APPS) and name not in READING_COMMANDS)


def run_recorded(run: Any, name: str, options: Mapping[str, Any], argv: Sequence[str]) -> Any:
    """Run a command and write its entry, how ever it ends: the command itself never fails because of that."""
    from apps.audit.services import record_command, recording

    outcome = "failed"
    with recording() as held:
        try:
            note_named_object(name, options)
            answer = run()
            outcome = "done"
        except CommandError:
            outcome = "refused"
            raise
        finally:
            record_command(held=held, actor=operating_user(), **act_of(name, options, argv), outcome=outcome)
    return answer


def note_named_object(name: str, options: Mapping[str, Any]) -> None:
    """Note the object that a command names, where there is one; what was typed for one that is missing is not kept."""
    from django.apps import apps

    from apps.audit.services import note_change

    if name not in OBJECTS_OF_COMMANDS:
        return
    label, field, option = OBJECTS_OF_COMMANDS[name]
    with suppress(DatabaseError):
        found = apps.get_model(label)._default_manager.filter(**{field: options.get(option)}).first()
        if found is not None:
            note_change({}, {}, object_type=label.lower(), object_id=found.pk, name=getattr(found, field))


def act_of(name: str, options: Mapping[str, Any], argv: Sequence[str]) -> dict[str, Any]:
    """Return what a command does: its name, whose data it is about, and which options it has, without their values."""
    subcommand = options.get("subcommand")
    named = [part.partition("=")[0] for part in argv if part.startswith("--")]
    given = {} if name in NAMELESS_COMMANDS else {
        column: next((value for option in names if isinstance(value := options.get(option), str) and value), None)
        for column, names in SCOPE_OPTIONS.items()
    }  # fmt: skip
    return {
        "action": f"command.{name}{f'_{subcommand}' if isinstance(subcommand, str) else ''}",
        "identifiers": {column: value for column, value in given.items() if value},
        "options": sorted(set(named)),
    }


def operating_user() -> str:
    """Return the name of the user of the operating system."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
