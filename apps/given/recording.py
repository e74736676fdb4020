"""What was given waits in memory, and is written every few seconds: an answer costs no statement.

What was not written yet when a process is killed is lost: some seconds of a log.
"""

import logging
import threading
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from django.conf import settings
from django.db import Error, connection, transaction

from apps.core.db.user_locks import hold_users, work_for_unlocked
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.unseen import storable
from apps.core.per_process import PerProcess
from apps.core.personal.erase import delete_in_parts
from apps.core.run_name import current_run
from apps.given.domain.given import AnswerKind, Item, ItemKind
from apps.given.models import GivenAnswer

logger = logging.getLogger(__name__)
# As the actors of keys begin.
KEY = "key:"
# Answers between two writes; more are not kept.
MAX_WAITING = 20_000
ROWS_AT_ONCE = 1_000
COLUMNS = {ItemKind.MEMORY: "memories", ItemKind.EVENT: "events", ItemKind.NOTE: "notes"}


class Noted(NamedTuple):
    """An answer that is not written yet."""

    uuid: UUID
    app: str
    kind: AnswerKind
    run_id: str
    at: datetime
    items: Sequence[Item]


class GivenAnswers:
    """The answers of this process that are not written yet."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Noted] = []
        self._trimmed: date | None = None

    def note(self, actor: str, kind: AnswerKind, items: Sequence[Item], uuid: UUID | None = None) -> None:
        """Keep what a key got as an answer; not one that gave nothing, which may name people who are not known here."""
        if not items or not actor.startswith(KEY) or not settings.MEMORYHUB.given_days:
            return
        noted = Noted(uuid or uuid4(), actor.removeprefix(KEY), kind, current_run(), utcnow(SYSTEM_CLOCK), items)
        with self._lock:
            if len(self._waiting) < MAX_WAITING:
                self._waiting.append(noted)

    def flush(self, *, clock: Clock = SYSTEM_CLOCK) -> int:
        """Write what waits, and return how many answers that are. Where the database does not answer, it is lost."""
        with self._lock:
            taken, self._waiting = self._waiting, []
        try:
            rows = [row for noted in taken for row in rows_of(noted)]
            for first in range(0, len(rows), ROWS_AT_ONCE):
                work_for_unlocked(rows[first : first + ROWS_AT_ONCE], lambda row: row.user_id, write_rows)
            now = utcnow(clock)
            if self._trimmed != now.date():
                kept = timedelta(days=settings.MEMORYHUB.given_days)
                for _ in delete_in_parts(GivenAnswer.objects.filter(at__lt=now - kept)):
                    pass
                self._trimmed = now.date()
        except Error as error:
            logger.info("what was given could not be written: %s", type(error).__name__)
            if not connection.in_atomic_block:
                connection.close()
        return len(taken)

    def drop(self) -> None:
        """Forget what waits."""
        with self._lock:
            self._waiting = []


def rows_of(noted: Noted) -> Iterable[GivenAnswer]:
    """Return the rows of an answer, one for each scope of what it gave."""
    rows: dict[Any, GivenAnswer] = {}
    for place, kind, key in noted.items:
        if place not in rows:
            columns = {"app": storable(noted.app)[:200], "asked": noted.kind, "run_id": noted.run_id, "at": noted.at}
            rows[place] = GivenAnswer(uuid=noted.uuid, **place._asdict(), **columns, memories=[], events=[], notes=[])
        getattr(rows[place], COLUMNS[kind]).append(storable(key) if isinstance(key, str) else key)
    return rows.values()


def write_rows(rows: Sequence[GivenAnswer]) -> int:
    """Write rows in a transaction of its own. Raises UserLockedError for one who is being forgotten."""
    with transaction.atomic():
        hold_users(row.user_id for row in rows)
        GivenAnswer.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)


_given = PerProcess(GivenAnswers)


def given_answers() -> GivenAnswers:
    """Return what waits in this process."""
    return _given.get()


def given_facts() -> dict[str, Any]:
    """Write what this web process has given; called with each sign of life, which shows how many answers that were."""
    return {"written": given_answers().flush()}
