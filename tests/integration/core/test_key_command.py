"""`manage.py key`: a key for an application, from a terminal."""

from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from apps.core.models import ApiKey
from tests.api import Api

pytestmark = pytest.mark.django_db


def make(*words: str) -> tuple[str, str]:
    """Run the command, and return what it writes to standard output, and beside it."""
    out, beside = StringIO(), StringIO()
    call_command("key", *words, stdout=out, stderr=beside)
    return out.getvalue(), beside.getvalue()


def test_printed_key_is_alone_and_bound() -> None:
    printed, beside = make("Claude Code", "--user", "ana", "--household", "home")
    assert beside == "Key Claude Code for user ana, household home. It is shown only once.\n"
    ana = Api(printed.removesuffix("\n"))
    assert ana.save("Ana drinks green tea.")["household_id"] == "home"
    assert ana.post("/api/semantic/memories", {"content": "Ben drinks tea.", "user_id": "ben"}).status_code == 403
    assert ana.get("/api/keys").status_code == 403


def test_key_without_a_bound_is_of_the_default_user(settings: Any) -> None:
    settings.MEMORYHUB = replace(settings.MEMORYHUB, default_user=None)
    with pytest.raises(CommandError, match="name one with --user"):
        make("Claude Code")
    settings.MEMORYHUB = replace(settings.MEMORYHUB, default_user="owner")
    reader = Api(make("Claude Code", "--read-only")[0].strip())
    assert reader.post("/api/semantic/memories", {"content": "Tea is hot."}).status_code == 403
    key = ApiKey.objects.get()
    assert (key.user_id, key.permission) == ("owner", "read")


def test_a_second_key_of_a_name_is_numbered() -> None:
    make("Claude Code", "--user", "ana")
    make("Claude Code", "--user", "ana")
    assert sorted(ApiKey.objects.values_list("name", flat=True)) == ["Claude Code", "Claude Code (2)"]


@pytest.mark.parametrize("words", [("x" * 101, "--user", "ana"), ("app", "--user", "a" * 201)])
def test_what_cannot_be_kept_is_said_in_a_line(words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        make(*words)
    assert not ApiKey.objects.exists()
