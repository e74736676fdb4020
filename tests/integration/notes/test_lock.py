"""The lock of a user's notes, by files and by the database."""

import threading
from dataclasses import replace
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from apps.core.db.user_locks import UserLockedError
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import UnavailableError
from apps.core.models import LockedUser
from apps.notes.domain.places import MAIN
from apps.notes.files import lock
from apps.notes.files.changes import note_append
from apps.notes.files.lock import notes_lock
from apps.notes.files.versions import next_number
from apps.notes.models import NoteVersion
from tests.threads import outcomes_at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("notes_dir")]


@pytest.fixture(params=["files", "database"])
def way(request: pytest.FixtureRequest, settings: Any) -> str:
    if request.param == "database":
        settings.MEMORYHUB = replace(settings.MEMORYHUB, database_url="postgresql://db.example/hub")
    return str(request.param)


def take(user: str = "ana") -> str:
    with notes_lock(user):
        return "mine"


def test_one_writes_and_another_waits_for_so_long(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "WAIT_SECONDS", 0.2)
    with notes_lock("ana"):
        mine, other = outcomes_at_once(take, lambda: take("ben"))
        assert isinstance(mine, UnavailableError)
        assert other == "mine"
    assert outcomes_at_once(take) == ["mine"]


def test_who_waits_gets_it_when_it_is_free(way: str) -> None:
    held, over = threading.Event(), threading.Event()

    def hold() -> None:
        with notes_lock("ana"):
            held.set()
            over.wait(0.3)

    def wait() -> str:
        assert held.wait(30)
        return take()

    assert outcomes_at_once(hold, wait) == [None, "mine"]
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)


def test_who_waited_within_a_transaction_waits_for_rows_as_before(settings: Any) -> None:
    settings.MEMORYHUB = replace(settings.MEMORYHUB, database_url="postgresql://db.example/hub")
    held = threading.Event()

    def hold() -> None:
        with notes_lock("ana"):
            held.set()
            threading.Event().wait(0.3)

    def wait() -> Any:
        assert held.wait(30)
        with transaction.atomic(), notes_lock("ana"), connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            return cursor.fetchone()

    assert outcomes_at_once(hold, wait) == [None, ("0",)]


def test_user_who_is_being_forgotten_has_no_writer(way: str) -> None:
    LockedUser.objects.create(user_id="ana", since=utcnow(SYSTEM_CLOCK))
    assert isinstance(outcomes_at_once(take)[0], UserLockedError)
    with notes_lock("ana", of_forgotten=True):
        pass


def test_writer_that_lost_the_lock_is_told_to_try_again(way: str) -> None:
    """Another host wrote the version that this one has counted."""
    note_append("ana", MAIN, "tea", author="test")
    twin = NoteVersion.objects.get()
    assert next_number("ana", MAIN)[0] == 2
    twin.pk, twin.uuid = None, "7b1e4f0c-92a3-4d58-8f6b-3c0d5e9a1b74"
    with pytest.raises(UnavailableError, match="try again") as caught, notes_lock("ana"):
        twin.save(force_insert=True)
    assert caught.value.retry_after == 1
    with pytest.raises(IntegrityError), notes_lock("ana"):
        NoteVersion.objects.create(user_id="ana", place="x", number=None)


def test_files_of_locks_are_made_by_one_machine_alone(way: str, settings: Any) -> None:
    take("someone new")
    made = list(settings.NOTES_LOCKS_DIR.glob("*"))
    assert bool(made) is (way == "files")
