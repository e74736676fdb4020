"""One run of an erasure: remove, wait for the processes, scan, and write the certificate.

Every step is safe to repeat, so a run that is killed anywhere is continued by the next one. What the certificate says
was removed was counted after the user was locked and before anything was removed; the scan shows that nothing is left.
"""

import logging
import time
import traceback
from collections.abc import Callable

from django.db import connection, transaction

from apps.accounts.services import pages_return, pages_take
from apps.core.db.session_locks import try_session_lock
from apps.core.db.user_locks import unlock_user
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.deadline import Deadline
from apps.core.domain.errors import MemoryHubError
from apps.core.personal.registry import personal_stores
from apps.core.steps import Step, no_step
from apps.people.erasure.caches import caches_drop, processes_behind
from apps.people.erasure.request import erasure_preview, obstacles, store_finds
from apps.people.models import OPEN_STATES, Erasure, ErasureState

logger = logging.getLogger(__name__)
# With the id of an erasure as second key: one run at a time.
ERASURE_LOCKS = 0x6D68_6572
ROUNDS = 5
PART_SECONDS = 300.0
PATIENCE_SECONDS = 20.0
POLL_SECONDS = 0.2
MAX_PROBLEMS = 20
# Takes the name of a store and how much of it was removed.
Progress = Callable[[str, int], None]
# The first version that can clear the statistics of a table that is empty, which ANALYZE leaves alone.
CAN_CLEAR = 18_00_00


def no_progress(store: str, count: int) -> None:
    """Show no progress."""


def erasures_continue(*, clock: Clock = SYSTEM_CLOCK) -> None:
    """Continue every open erasure; each minute, and when one is requested. One that fails does not hold up others."""
    for erasure in Erasure.objects.filter(state__in=OPEN_STATES).order_by("pk"):
        try:
            erasure_run(erasure_id=erasure.pk, clock=clock)
        except Exception as error:  # noqa: BLE001
            # What it says may have something of the user in it; where it comes from has not.
            name, place = type(error).__name__, "".join(traceback.format_tb(error.__traceback__))
            logger.error("erasure %d failed with %s\n%s", erasure.pk, name, place)
            note_problems(
                erasure, [f"It failed with {name}, see the log of the worker, and is tried again each minute."]
            )


def erasure_run(
    *,
    erasure_id: int,
    clock: Clock = SYSTEM_CLOCK,
    step: Step = no_step,
    progress: Progress = no_progress,
    seconds: float | None = PART_SECONDS,
) -> Erasure:
    """Continue an erasure for some time, unless another process does. Return it as it is then.

    step: called with the name of each step after which a process may be killed.
    """
    with try_session_lock(ERASURE_LOCKS, erasure_id) as is_alone:
        erasure = Erasure.objects.get(pk=erasure_id)
        if not is_alone or not erasure.is_open:
            return erasure
        try:
            ErasureRun(erasure, clock, step, progress, Deadline(seconds)).run()
        except MemoryHubError as error:
            note_problems(erasure, [error.detail])
        erasure.refresh_from_db()
        return erasure


class ErasureRun:
    """One run of one erasure."""

    def __init__(self, erasure: Erasure, clock: Clock, step: Step, progress: Progress, deadline: Deadline) -> None:
        self.erasure, self.user_id, self.clock = erasure, erasure.user_id, clock
        self.step, self.progress, self.deadline = step, progress, deadline

    def run(self) -> None:
        """Take all steps that are left, or those for which there is time. Raises MemoryHubError."""
        if self.erasure.state == ErasureState.WAITING and not self.begin():
            return
        for _ in range(ROUNDS):
            if not self.remove():
                return
            # The processes of the hub learn that there is something to drop; this one drops what it holds.
            self.save(emptied_at=utcnow(self.clock), problems=[])
            caches_drop()
            self.step("caches")
            processes = self.await_processes()
            statistics_refresh()
            self.step("statistics")
            left = store_finds(self.user_id)
            self.step("scan")
            if not left:
                self.finish(processes)
                self.step("finished")
                return
        note_problems(self.erasure, [f"something is left in {place}" for place in left])

    def begin(self) -> bool:
        """Note how much there is, unless something could stay hidden: then nothing is removed or locked."""
        problems = obstacles(self.user_id, full=True)
        self.step("looked")
        if problems:
            with transaction.atomic():
                note_problems(self.erasure, problems)
                unlock_user(self.user_id)
                self.return_logins()
                self.save(state=ErasureState.REFUSED, user_id="", logins=[], finished_at=utcnow(self.clock))
            return False
        if self.erasure.keeps_account:
            # In a transaction of its own: which are set aside is noted, so that it is safe to repeat.
            with transaction.atomic():
                self.save(logins=[*self.erasure.logins, *pages_take(person_id=self.user_id)])
            self.step("accounts set aside")
        self.save(state=ErasureState.REMOVING, found=dict(erasure_preview(self.user_id)), began_at=utcnow(self.clock))
        self.step("counted")
        return True

    def remove(self) -> bool:
        """Empty the stores. Return False when the time is over. Raises MemoryHubError."""
        for store in reversed(personal_stores()):
            for count in store.forget(self.user_id, self.step):
                self.progress(store.name, count)
                self.step(store.name)
                if self.deadline.expired:
                    return False
        return True

    def await_processes(self) -> int:
        """Wait until the web processes have dropped what they hold. Return their number; Raises MemoryHubError."""
        patience = Deadline(PATIENCE_SECONDS)
        while True:
            count, behind = processes_behind(self.erasure.pk)
            if not behind:
                return count
            if patience.expired:
                raise MemoryHubError(f"{behind} web processes still hold something in memory.")
            time.sleep(POLL_SECONDS)

    def finish(self, processes: int) -> None:
        """Write the certificate, and let others write for the user again."""
        with transaction.atomic():
            unlock_user(self.user_id)
            self.return_logins()
            self.save(
                state=ErasureState.FINISHED,
                user_id="",
                logins=[],
                finished_at=utcnow(self.clock),
                processes=processes,
                problems=[],
            )

    def return_logins(self) -> None:
        """Give the accounts their pages again, in the caller's transaction, once the user is unlocked.

        An account that is set aside has no pages and no bound. That shows it nothing, since it has no role; one with a
        role is left alone, so that no account ever sees more than before.
        """
        pages_return(person_id=self.user_id, kept=self.erasure.logins)

    def save(self, **changes: object) -> None:
        """Change the row."""
        for name, value in changes.items():
            setattr(self.erasure, name, value)
        self.erasure.save(update_fields=list(changes))


def note_problems(erasure: Erasure, problems: list[str]) -> None:
    """Note why an erasure cannot go on."""
    Erasure.objects.filter(pk=erasure.pk).update(problems=problems[:MAX_PROBLEMS])
    erasure.problems = problems[:MAX_PROBLEMS]


def statistics_refresh() -> None:
    """Have PostgreSQL sample the tables of personal data again, so that no value of deleted rows is left.

    To plan queries it keeps samples of the values of columns, which stay when their rows are gone.
    Safe to repeat. Before version 18, values of a table that has become empty stay until it has rows again.
    """
    tables = sorted({model._meta.db_table for store in personal_stores() for model in store.models})
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int")
        version = cursor.fetchone()[0]
        for table in tables:
            name = connection.ops.quote_name(table)
            cursor.execute(f"ANALYZE {name}")
            cursor.execute(f"SELECT EXISTS (SELECT FROM {name})")  # noqa: S608 - a table of a model
            if not cursor.fetchone()[0] and version >= CAN_CLEAR:
                cursor.execute(
                    """
                    SELECT pg_clear_attribute_stats(schemaname, tablename, attname, inherited) FROM pg_stats
                    WHERE schemaname = current_schema() AND (tablename = %s OR tablename IN (
                        SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND tablename = %s))
                    """,
                    [table, table],
                )
