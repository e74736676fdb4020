"""Counts of answers that wait to be written: a search costs no statement.

What was not written yet when a process is killed is lost: some seconds of a statistic.
"""

import logging
import threading
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

from django.db import Error, connection

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.per_process import PerProcess
from apps.semantic.models import MemoryUse

logger = logging.getLogger(__name__)
# As the actors of keys begin.
KEY = "key:"
KEPT = timedelta(days=90)
# Of memories and keys between two writes; more are not counted.
MAX_WAITING = 20_000
ROWS_AT_ONCE = 2_000

# What was removed in between, or is being removed, has no row.
_ADD = """
INSERT INTO semantic_memoryuse (user_id, memory_id, app, count, last_at)
SELECT memory.user_id, memory.id, noted.app, noted.count, %s
FROM unnest(%s::bigint[], %s::text[], %s::int[]) AS noted (memory_id, app, count)
JOIN semantic_memory AS memory ON memory.id = noted.memory_id
WHERE NOT EXISTS (SELECT FROM core_lockeduser WHERE user_id = memory.user_id)
ORDER BY memory.id, noted.app
ON CONFLICT (memory_id, app) DO UPDATE SET count = semantic_memoryuse.count + excluded.count, last_at = excluded.last_at
"""


class MemoryUses:
    """Answers that are not written yet, by memory and key."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[tuple[int, str], int] = {}
        self._trimmed: date | None = None

    def note(self, actor: str, memories: Iterable[int]) -> None:
        """Count memories that a caller got as an answer; those of keys alone."""
        if not actor.startswith(KEY):
            return
        app = actor.removeprefix(KEY)
        with self._lock:
            waiting = self._waiting
            if len(waiting) < MAX_WAITING:
                for memory in memories:
                    waiting[memory, app] = waiting.get((memory, app), 0) + 1

    def flush(self, *, clock: Clock = SYSTEM_CLOCK) -> int:
        """Write what was counted, and return how many rows that are. Where the database does not answer, it is lost."""
        with self._lock:
            taken, self._waiting = self._waiting, {}
        now = utcnow(clock)
        try:
            rows = [(memory, app[:200].replace("\0", ""), count) for (memory, app), count in taken.items()]
            for first in range(0, len(rows), ROWS_AT_ONCE):
                columns = [list(column) for column in zip(*rows[first : first + ROWS_AT_ONCE], strict=True)]
                with connection.cursor() as cursor:
                    cursor.execute(_ADD, [now, *columns])
            if self._trimmed != now.date():
                MemoryUse.objects.filter(last_at__lt=now - KEPT).delete()
                self._trimmed = now.date()
        except Error as error:
            logger.info("the use of memories could not be counted: %s", type(error).__name__)
            if not connection.in_atomic_block:
                connection.close()
        return len(taken)

    def drop(self) -> None:
        """Forget what waits."""
        with self._lock:
            self._waiting = {}


_uses = PerProcess(MemoryUses)


def memory_uses() -> MemoryUses:
    """Return the counts of this process."""
    return _uses.get()


def uses_facts() -> dict[str, Any]:
    """Write what this web process has counted; called with each sign of life, which shows how much it was."""
    return {"written": memory_uses().flush()}
