"""Running things at the same time, each in a thread with a database connection of its own."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from django.db import connection, connections, transaction

from apps.core.domain.errors import MemoryHubError

PATIENCE = 60.0


def outcomes_at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Run calls at the same time; give what each returned or raised, in their order."""
    outcomes: dict[int, Any] = {}
    start = threading.Barrier(len(calls))

    def run(number: int, call: Callable[[], Any]) -> None:
        try:
            start.wait(PATIENCE)
            outcomes[number] = call()
        except BaseException as failure:  # noqa: BLE001  (looked at by the caller)
            outcomes[number] = failure
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=pair, daemon=True) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads), "threads wait for each other"
    return [outcomes[number] for number in range(len(calls))]


def at_once(*calls: Callable[[], Any], refusals: bool = False) -> list[Any]:
    """Run calls at the same time; give their results, or raise what one of them raised.

    refusals: a MemoryHubError is a result, too.
    """
    outcomes = outcomes_at_once(*calls)
    for outcome in outcomes:
        if isinstance(outcome, BaseException) and not (refusals and isinstance(outcome, MemoryHubError)):
            raise outcome
    return outcomes


def someone_waits_for_a_lock() -> bool:
    """Wait until a connection to this database waits for a lock of it. Return whether that came about."""
    waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(waiting)
            if cursor.fetchone():
                return True
        time.sleep(0.02)
    return False


@contextmanager
def met_by(call: Callable[[], Any]) -> Iterator[None]:
    """Do the block in a transaction that is committed once a call, begun in a thread after it, waits for its locks.

    Raises what the call raised.
    """

    def run() -> None:
        try:
            call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            yield
            other = threads.submit(run)
            assert someone_waits_for_a_lock()
        other.result(PATIENCE)
