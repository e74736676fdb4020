"""How often each key is used and refused: counted in memory, and added to a row of key and day every few seconds.

A request costs no statement. What was not written yet when a process is killed is lost: some seconds of a statistic.
"""

import logging
import threading
from collections import Counter
from datetime import date
from uuid import UUID

from django.db import Error, connection

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.keys import digest, is_well_formed
from apps.core.per_process import PerProcess

logger = logging.getLogger(__name__)

# Answers that mean that the key may not do what it was used for, or not so often.
REFUSED = frozenset({403, 429})
# Secrets that were refused as such, between two writes; more are not distinguished, and not counted.
MAX_UNKNOWN = 1_000
KEPT_DAYS = 90

_ADD = """
INSERT INTO core_keyday (key_id, day, used, refused)
SELECT key.id, noted.day, sum(noted.used), sum(noted.refused)
FROM unnest(%s::text[], %s::text[], %s::date[], %s::int[], %s::int[]) AS noted (uuid, digest, day, used, refused)
JOIN core_apikey AS key
  ON key.uuid = noted.uuid::uuid OR key.digest = noted.digest OR key.previous_digest = noted.digest
GROUP BY key.id, noted.day ORDER BY key.id, noted.day
ON CONFLICT (key_id, day) DO UPDATE SET used = core_keyday.used + excluded.used,
                                        refused = core_keyday.refused + excluded.refused
"""
_FORGET = "DELETE FROM core_keyday WHERE day < %s::date - %s::int"


class KeyUsage:
    """Uses and refusals of keys that are not written yet."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: Counter[tuple[UUID, date]] = Counter()
        self._refused: Counter[tuple[UUID, date]] = Counter()
        self._unknown: Counter[tuple[str, date]] = Counter()
        self._trimmed: date | None = None

    def note(self, uuid: UUID, status: int, *, clock: Clock = SYSTEM_CLOCK) -> None:
        """Count a request of a key by the status of its answer."""
        counter = self._refused if status in REFUSED else self._used
        with self._lock:
            counter[uuid, utcnow(clock).date()] += 1

    def note_refused_secret(self, secret: str, *, clock: Clock = SYSTEM_CLOCK) -> None:
        """Count a secret that was refused: it may be of a key that was revoked, rotated or has expired."""
        if not is_well_formed(secret):
            return
        noted = digest(secret), utcnow(clock).date()
        with self._lock:
            if noted in self._unknown or len(self._unknown) < MAX_UNKNOWN:
                self._unknown[noted] += 1

    def flush(self, *, clock: Clock = SYSTEM_CLOCK) -> None:
        """Add what was counted to the table. Where the database does not answer, the next call does."""
        with self._lock:
            taken = self._used, self._refused, self._unknown
            self._used, self._refused, self._unknown = Counter(), Counter(), Counter()
        today = utcnow(clock).date()
        try:
            if any(taken):
                self._write(*taken)
            if self._trimmed != today:
                with connection.cursor() as cursor:
                    cursor.execute(_FORGET, [today, KEPT_DAYS])
                self._trimmed = today
        except Error as error:
            logger.info("the use of keys could not be counted: %s", type(error).__name__)
            with self._lock:
                self._used += taken[0]
                self._refused += taken[1]
                if len(self._unknown) < MAX_UNKNOWN:
                    self._unknown += taken[2]
            if not connection.in_atomic_block:
                connection.close()

    def _write(
        self,
        used: Counter[tuple[UUID, date]],
        refused: Counter[tuple[UUID, date]],
        unknown: Counter[tuple[str, date]],
    ) -> None:
        rows: list[tuple[str | None, str | None, date, int, int]]
        rows = [(str(uuid), None, day, used[uuid, day], refused[uuid, day]) for uuid, day in {**used, **refused}]
        rows += [(None, hashed, day, 0, count) for (hashed, day), count in unknown.items()]
        with connection.cursor() as cursor:
            cursor.execute(_ADD, [list(column) for column in zip(*rows, strict=True)])


_usage = PerProcess(KeyUsage)


def key_usage() -> KeyUsage:
    """Return the counts of this process."""
    return _usage.get()
