"""The advisory locks of the timeline, between two connections."""

import threading

import pytest
from django.db import connection, transaction

from apps.episodic.locks import SEGMENT_LOCKS, lock_warnings, maintenance_alone, wait_for_writers
from tests.threads import PATIENCE, at_once

pytestmark = pytest.mark.django_db(transaction=True)


def test_maintenance_is_done_by_one_at_a_time_and_nobody_waits_for_it() -> None:
    def attempt() -> bool:
        with maintenance_alone() as alone:
            return alone

    with maintenance_alone() as alone:
        assert alone
        assert at_once(attempt) == [False]
    assert at_once(attempt) == [True]


def test_maintenance_that_fails_lets_the_next_one_in() -> None:
    with pytest.raises(ZeroDivisionError), maintenance_alone():
        raise ZeroDivisionError
    with maintenance_alone() as alone:
        assert alone


def test_waiting_for_writers_ends_when_the_last_one_commits() -> None:
    is_writing, waited = threading.Event(), threading.Event()
    order: list[str] = []

    def write() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock_shared(%s, 1)", [SEGMENT_LOCKS])
            is_writing.set()
            # The lock is still held, so the other one cannot have gone past it, however long this takes.
            assert not waited.wait(0.2)
            order.append("written")

    def wait() -> None:
        assert is_writing.wait(PATIENCE)
        wait_for_writers(2)
        wait_for_writers(1)
        order.append("waited")
        waited.set()

    at_once(write, wait)
    assert order == ["written", "waited"]


def test_warnings_are_changed_in_a_transaction_only() -> None:
    with pytest.raises(RuntimeError):
        lock_warnings()
