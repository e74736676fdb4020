"""A writer that began before a user was locked ends first, and one that begins later is refused."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.db import connection, transaction

from apps.core.db.user_locks import UserLockedError, hold_users, lock_user, locked_among, unlock_user
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 20


def lock(user: str) -> bool:
    try:
        with transaction.atomic():
            return lock_user(user, utcnow(SYSTEM_CLOCK))
    finally:
        connection.close()


def test_the_lock_waits_for_those_who_write() -> None:
    held, may_end = Event(), Event()

    def write() -> None:
        try:
            with transaction.atomic():
                hold_users(["ana", "ben"])
                held.set()
                assert may_end.wait(PATIENCE)
        finally:
            connection.close()

    with ThreadPoolExecutor() as threads:
        writing = threads.submit(write)
        assert held.wait(PATIENCE)
        locking = threads.submit(lock, "ana")
        with pytest.raises(TimeoutError):
            locking.result(0.3)
        assert locked_among(["ana"]) == set()
        may_end.set()
        writing.result(PATIENCE)
        assert locking.result(PATIENCE)
    with transaction.atomic(), pytest.raises(UserLockedError):
        hold_users(["ben", "ana"])
    with transaction.atomic():
        hold_users(["ben"])


def test_a_user_who_is_unlocked_can_be_written_for() -> None:
    lock("ana")
    with transaction.atomic():
        unlock_user("ana")
        hold_users(["ana"])


def test_an_empty_list_holds_no_user() -> None:
    with transaction.atomic():
        hold_users([])
