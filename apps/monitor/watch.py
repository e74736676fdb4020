"""Notice problems that no change of a row reports, such as a worker that was stopped, and announce them to browsers."""

import logging
import threading
import time

from django.db import Error, connection

from apps.core.db.session_locks import take_session_lock
from apps.core.db.sessions import is_direct, session_connection
from apps.core.per_process import PerProcess
from apps.monitor.alarms.send import alarms_send
from apps.monitor.problems import current_problems

logger = logging.getLogger(__name__)

# A problem reaches browsers within two seconds of being one.
TICK_SECONDS = 1.5
# How often this process looks whether the worker, which sends alarms, has done so.
ALARM_SECONDS = 15.0
# Any number that no other advisory lock of this project uses.
WATCH_LOCK = 0x6D68_7077
CHANNEL, TOPIC = "memoryhub_live", "health"

State = frozenset[tuple[str, str, int]]


class ProblemWatch:
    """One thread of each web process. The one that has the lock judges; another one goes on when it ends."""

    def __init__(self) -> None:
        self._has_ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._has_lock = False
        self._known: State | None = None
        self._alarms: threading.Thread | None = None
        self._alarms_at = 0.0

    def begin(self) -> None:
        """Judge every 1.5 seconds from now on."""
        self._thread = threading.Thread(target=self._run, name="problem watch", daemon=True)
        self._thread.start()

    def end(self, patience: float = 1.0) -> None:
        """Stop, and leave the lock to another process."""
        self._has_ended.set()
        if self._thread is not None:
            self._thread.join(patience)

    def _run(self) -> None:
        while not self._has_ended.wait(TICK_SECONDS):
            try:
                self.tick()
                self.look_after_alarms()
            except Error as error:
                logger.info("problems could not be judged: %s", type(error).__name__)
                self.let_go()
            except Exception:
                logger.exception("problems could not be judged")
        self.let_go()

    def tick(self) -> bool:
        """Judge once where this process has the lock. Return whether a change was announced."""
        if not self.has_lock():
            return False
        state: State = frozenset((one.code, one.subject, int(one.severity)) for one in current_problems())
        if state == self._known:
            return False
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, TOPIC])
        self._known = state
        return True

    def look_after_alarms(self) -> None:
        """Send alarms in the worker's place where it has not for too long, in a thread: a server may be slow."""
        now = time.monotonic()
        is_busy = self._alarms is not None and self._alarms.is_alive()
        if not self._has_lock or is_busy or now - self._alarms_at < ALARM_SECONDS:
            return
        self._alarms_at = now
        self._alarms = threading.Thread(target=send_overdue_alarms, name="alarms", daemon=True)
        self._alarms.start()

    def has_lock(self) -> bool:
        """Return whether this connection has the lock, or gets it now. The database releases it with the connection."""
        if not self._has_lock or session_connection().connection is None:
            self._has_lock = take_session_lock(WATCH_LOCK)
        elif is_direct():
            with session_connection().cursor() as cursor:  # of which nothing else would notice that it is lost
                cursor.execute("SELECT 1")
        return self._has_lock

    def let_go(self) -> None:
        """Close the connection, and with it the lock. What was known may have changed until it is taken again."""
        self._has_lock, self._known = False, None
        connection.close()
        session_connection().close()


def send_overdue_alarms() -> None:
    """Send the alarms that the worker has not sent, in a thread that ends with it."""
    try:
        alarms_send(only_overdue=True)
    except Error as error:
        logger.info("alarms could not be sent: %s", type(error).__name__)
    except Exception:
        logger.exception("alarms could not be sent")
    finally:
        connection.close()
        session_connection().close()


_watch = PerProcess(ProblemWatch)


def begin_problem_watch() -> None:
    """Watch for problems in this web process from now on."""
    _watch.get().begin()


def end_problem_watch() -> None:
    """End the watch of this web process."""
    for watch in _watch.forget():
        watch.end()
