"""The thread of a web process that hears of changes: one connection to the database, which listens."""

import logging
import os
import select
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

import psycopg
from django.conf import settings

from apps.core.db.sessions import connect_session, find_session_fault
from apps.core.db.watch import WATCHED_CONNECT_SECONDS, Connection, HangingError, database_watch
from apps.core.domain.backoff import Backoff
from apps.core.domain.randomness import SYSTEM_RNG
from apps.core.processes import LIVE_STATE_SQL
from apps.live.domain.coalescer import Coalescer
from apps.live.domain.topics import EVERY_PERSON, HEALTH, KNOWN, OWN_TOPICS, TOPICS, own_note, read_own_note
from apps.live.triggers import CHANNEL, OWN_CHANNEL

logger = logging.getLogger(__name__)

APPLICATION_NAME = "memoryhub live"
# Between two looks at the processes of the hub, which also find out that the connection is lost.
LOOK_SECONDS = 2.0
PAUSE = Backoff(base_ms=100, multiplier=2, max_ms=2_000, jitter_ms=50)
# Any number that no other advisory lock of this project uses.
RELAY_LOCK = 1_704_202_611
_ELECT = "SELECT pg_try_advisory_lock(%s)"


# Between two looks whether notifications arrive, where they did not.
DEAF_SECONDS = 30.0
# What `listener_facts` says of this process.
_found = {"fault": ""}


class DeafError(Exception):
    """Notifications do not arrive on connections for sessions. The text says which setting is missing."""


class Audience(Protocol):
    """Who is notified, from the thread of the listener."""

    def announce(self, topics: Sequence[str]) -> None:
        """Pass topics on."""

    def announce_own(self, notes: Sequence[str]) -> None:
        """Pass topics of people on (`own_note`)."""

    def note_hearing(self, is_hearing: bool) -> None:
        """Note whether changes are heard of."""


class Listener:
    """Hears notifications and passes their topics on, at most once a second each.

    is_elected: one process alone passes them on for all of them, the one that holds an advisory lock; each of the
    others takes its place when it ends. After every start, and after every lost connection, all topics are passed on.
    """

    def __init__(self, audience: Audience, *, is_elected: bool = False) -> None:
        self._audience, self._is_elected = audience, is_elected
        self._topics, self._own = Coalescer(), Coalescer()
        self._has_ended = threading.Event()
        self._reads_end, self._ends = os.pipe()
        self._state: list[Any] | None = None
        self._is_relay = False
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Listen from now on."""
        self._thread = threading.Thread(target=self._run, name="live listener", daemon=True)
        self._thread.start()

    def end(self, patience: float = 1.0) -> None:
        """Stop listening, and close the connection."""
        if not self._has_ended.is_set():
            self._has_ended.set()
            os.close(self._ends)  # wakes the thread, for which the pipe has ended
        if self._thread is not None:
            self._thread.join(patience)

    def _run(self) -> None:
        attempt = 0
        while not self._has_ended.is_set():
            try:
                require_hearing()
                with database_watch().open(connect_listener) as connection:
                    attempt = 0
                    self._listen(connection)
            except DeafError as error:
                self._stay_deaf(error)
                continue
            except (psycopg.Error, OSError, HangingError) as error:
                self._lose(error, attempt)
            self._has_ended.wait(PAUSE.delay_ms(attempt, SYSTEM_RNG) / 1_000)
            attempt += 1
        os.close(self._reads_end)

    def _lose(self, error: Exception, attempt: int) -> None:
        """Say once that the connection is lost."""
        self._is_relay, self._state = False, None
        self._audience.note_hearing(False)
        if attempt == 0:
            logger.warning("changes are not heard of until the database answers (%s)", type(error).__name__)

    def _stay_deaf(self, error: DeafError) -> None:
        """Say once that nothing is heard of, and wait before the next look."""
        self._is_relay, self._state = False, None
        self._audience.note_hearing(False)
        if _found["fault"] != str(error):
            logger.error("changes are not heard of: %s", error)
        _found["fault"] = str(error)
        self._has_ended.wait(DEAF_SECONDS)

    def _listen(self, connection: Connection) -> None:
        """Pass on what is heard until the listener ends or the connection is lost, which raises psycopg.Error."""
        connection.add_notify_handler(lambda heard: self._hear(heard.channel, heard.payload))
        self._take_part(connection)
        self._audience.note_hearing(True)
        waiting = select.poll()
        for descriptor in (connection.fileno(), self._reads_end):
            waiting.register(descriptor, select.POLLIN)
        look_at = time.monotonic() + LOOK_SECONDS
        while not self._has_ended.is_set():
            now = time.monotonic()
            due = [one for one in (self._topics.wait(now), self._own.wait(now)) if one is not None]
            wait = min([max(0.0, look_at - now), *due])
            if any(descriptor != self._reads_end for descriptor, _ in waiting.poll(wait * 1_000)):
                self._read(connection)
            if time.monotonic() >= look_at:
                self._take_part(connection)
                look_at = time.monotonic() + LOOK_SECONDS
            if topics := self._topics.take(time.monotonic()):
                self._audience.announce(topics)
            if notes := self._own.take(time.monotonic()):
                self._audience.announce_own(notes)

    def _take_part(self, connection: Connection) -> None:
        """Be elected where that is due, and look at the processes of the hub: a silent one sends no notification."""
        if not self._is_relay:
            elected = connection.execute(_ELECT, [RELAY_LOCK]).fetchone() if self._is_elected else (True,)
            if not elected or not elected[0]:
                return
            connection.execute(f"LISTEN {CHANNEL}")
            connection.execute(f"LISTEN {OWN_CHANNEL}")
            self._is_relay = True
            for topic in TOPICS:
                self._note(topic)
            for topic in OWN_TOPICS:
                self._note_own(own_note(EVERY_PERSON, topic))
        state = connection.execute(LIVE_STATE_SQL).fetchall()
        if self._state is not None and state != self._state:
            self._note(HEALTH)
        self._state = state

    def _read(self, connection: Connection) -> None:
        """Note the notifications that have arrived. Raises psycopg.OperationalError when the connection is lost."""
        connection.pgconn.consume_input()
        while (heard := connection.pgconn.notifies()) is not None:
            self._hear(heard.relname.decode(), heard.extra.decode())

    def _hear(self, channel: str, payload: str) -> None:
        """Note what was notified on one of the two channels."""
        (self._note_own if channel == OWN_CHANNEL else self._note)(payload)

    def _note_own(self, note: str) -> None:
        if read_own_note(note) is not None:
            self._own.note(note, time.monotonic())

    def _note(self, topic: str) -> None:
        if topic in KNOWN:  # Everybody who reaches the database can notify.
            self._topics.note(topic, time.monotonic())


def require_hearing() -> None:
    """Raise DeafError where notifications would not arrive. The embedded server has no pooler before it."""
    if settings.MEMORYHUB.database_url is None:
        return
    fault = find_session_fault({"connect_timeout": WATCHED_CONNECT_SECONDS})
    if fault is not None:
        raise DeafError(fault)
    _found["fault"] = ""


def listener_facts() -> dict[str, str]:
    """Return why the listener of this process hears nothing, in one sentence; empty where it does."""
    return dict(_found)


def connect_listener(limits: Mapping[str, Any]) -> Connection:
    """Open a connection that can be found among those of the server."""
    connection = connect_session(limits)
    with suppress(psycopg.Error):
        connection.execute("SELECT set_config('application_name', %s, false)", [APPLICATION_NAME])
    return connection
