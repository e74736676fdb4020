"""Running things at the same time, each in a thread with a database connection of its own."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection

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
            connection.close()

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
