"""The advisory locks of the timeline, between two connections."""

import pytest

from apps.episodic.store.catalogue import try_maintenance_lock
from apps.episodic.warnings import lock_warnings
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def test_one_maintenance_runs_at_time_without_waiting() -> None:
    def attempt() -> bool:
        with try_maintenance_lock() as alone:
            return alone

    with try_maintenance_lock() as alone:
        assert alone
        assert at_once(attempt) == [False]
    assert at_once(attempt) == [True]


def test_maintenance_that_fails_lets_next_one_in() -> None:
    with pytest.raises(ZeroDivisionError), try_maintenance_lock():
        raise ZeroDivisionError
    with try_maintenance_lock() as alone:
        assert alone


def test_warnings_are_changed_in_transaction_only() -> None:
    with pytest.raises(RuntimeError):
        lock_warnings()
