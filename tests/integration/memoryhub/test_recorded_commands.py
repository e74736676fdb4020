"""Commands of `manage.py` leave an entry of the audit, and the command line itself never fails because of that."""

import getpass
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command, get_commands
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from apps.accounts.services import account_create
from apps.audit.models import AuditEntry
from memoryhub.audit import FOREIGN_COMMANDS, READING_COMMANDS
from memoryhub.process.commandline import WITHOUT_DATABASE
from memoryhub.process.recorded import OUR_APPS, RecordedUtility, is_recorded, operating_user, run_recorded

pytestmark = pytest.mark.django_db


def run(*words: str) -> str:
    """Run a command line as `manage.py` does, and return what it prints."""
    out = StringIO()
    command = RecordedUtility(["manage.py", *words]).fetch_command(words[0])
    call_command(command, *words[1:], stdout=out, stderr=out)
    return out.getvalue()


def newest() -> AuditEntry:
    return AuditEntry.objects.latest("pk")


def test_a_command_is_said_with_its_user_and_names_of_options() -> None:
    with pytest.raises(CommandError):
        run("purge_memories", "ana", "--household", "home", "--persona=work", "--yes")
    entry = newest()
    assert (entry.actor_kind, entry.actor, entry.outcome) == ("command", getpass.getuser(), "refused")
    assert entry.action == "command.purge_memories"
    assert (entry.user_id, entry.household_id, entry.persona_id) == ("ana", "home", "work")
    assert entry.detail == {"options": ["--household", "--persona", "--yes"]}
    assert entry.address is None


@pytest.mark.parametrize("step", ["link", "reset-second-factor", "sign-out"])
def test_a_step_on_an_account_says_which_one(step: str) -> None:
    ana = account_create(username="ana", role="Viewer")
    run("account", step, "ana")
    entry = newest()
    assert entry.action == f"command.account_{step}"
    assert (entry.object_type, entry.object_id, entry.detail["name"]) == ("auth.user", str(ana.pk), "ana")


def test_a_change_by_a_command_says_what_changed() -> None:
    run("account", "create", "ana", "Viewer", "--household", "home")
    ana = User.objects.get()
    made = AuditEntry.objects.get(object_type="auth.user", object_id=str(ana.pk))
    assert made.detail["changes"]["username"] == [None, "ana"]
    run("account", "role", "ana", "Owner")
    changed = AuditEntry.objects.filter(object_type="auth.user").latest("pk")
    assert changed.detail["changes"] == {"groups lost": ["Viewer", None], "groups gained": [None, "Owner"]}
    assert "/accounts/" not in str(list(AuditEntry.objects.values_list("detail", flat=True)))


def test_a_command_that_is_refused_names_no_missing_account() -> None:
    with pytest.raises(CommandError):
        run("account", "link", "a password in the wrong place")
    assert (newest().action, newest().outcome) == ("command.account_link", "refused")
    assert "password" not in str(list(AuditEntry.objects.values("actor", "object_id", "detail", "user_id")))


def test_a_command_that_fails_is_said() -> None:
    def fail() -> None:
        raise ValueError("contents")

    with pytest.raises(ValueError, match="contents"):
        run_recorded(fail, "reembed", {}, ["manage.py", "reembed"])
    assert (newest().action, newest().outcome, newest().detail) == ("command.reembed", "failed", {})


@pytest.mark.parametrize("words", [("account", "list"), ("timeline", "verify"), ("check",), ("sync", "list")])
def test_a_command_that_reads_leaves_no_entry(words: tuple[str, ...]) -> None:
    run(*words)
    assert not AuditEntry.objects.exists()


def test_forgetting_a_person_names_nobody() -> None:
    run("forget", "ana", "--dry-run")
    entry = newest()
    assert (entry.action, entry.user_id, entry.detail) == ("command.forget", "", {"options": ["--dry-run"]})
    assert not AuditEntry.objects.exclude(user_id="").exists()


def test_a_command_goes_on_when_its_entry_cannot_be_written(monkeypatch: Any, caplog: Any) -> None:
    def refuse(*_: Any) -> None:
        raise DatabaseError("contents")

    monkeypatch.setattr("apps.audit.recording.notes.write_entries", refuse)
    account_create(username="ana", role="Viewer")
    assert "/accounts/password/reset/key/" in run("account", "link", "ana")
    assert "could not be written: command.account_link" in caplog.text
    assert "contents" not in caplog.text


def test_every_command_of_ours_is_recorded_or_said_to_read() -> None:
    ours = {name for name, app in get_commands().items() if isinstance(app, str) and app.startswith(OUR_APPS)}
    named = {words.split()[0] for words in READING_COMMANDS}
    assert named <= ours, "a command that is no more"
    whole = {words for words in READING_COMMANDS if " " not in words}
    assert {name for name in ours if is_recorded(name)} == ours - whole
    assert all(is_recorded(name) for name in FOREIGN_COMMANDS)
    assert not any(is_recorded(name) for name in ("check", "migrate", "help", "runserver"))
    # What records needs the database.
    assert not {name for name in WITHOUT_DATABASE if name in ours and is_recorded(name)}


def test_subcommands_that_read_are_subcommands() -> None:
    for words in READING_COMMANDS:
        name, _, step = words.partition(" ")
        if step:
            command: BaseCommand = RecordedUtility(["manage.py"]).fetch_command(name)
            assert command.create_parser("manage.py", name).parse_args([step, *arguments(words)]).subcommand == step


def arguments(words: str) -> list[str]:
    """Return what a subcommand needs besides its name."""
    return ["x"] if words in {"sync conflicts", "sync dry-run", "sync show", "sync status"} else []


def test_a_system_without_a_name_for_its_user_is_no_fault(monkeypatch: Any) -> None:
    def unnamed() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr(getpass, "getuser", unnamed)
    assert operating_user() == "unknown"
