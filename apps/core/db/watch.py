"""The watch of a web process over its database: a server that hangs must not take all requests with it.

A server that was stopped or cut off from the network ends no connection, and libpq waits for its answer without a
limit. TCP timeouts do not help: the kernel of a machine whose server is stopped still acknowledges. So a probe asks a
trivial question twice a second. When its answer takes too long, every connection of the process is ended, which frees
the threads that wait on them, and no new one is opened until the probe is answered. Statements that take long on a
server that answers are not limited by this.
"""

import logging
import os
import select
import socket
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from prometheus_client import Gauge

from apps.core.per_process import PerProcess

logger = logging.getLogger(__name__)
HANGS = Gauge(
    "memoryhub_database_hangs", "1 while the database does not answer a web process.", multiprocess_mode="mostrecent"
)

PROBE_SECONDS = 0.5
TICK_SECONDS = 0.25
# So many looks in a row find the probe waiting before the server counts as hanging: two seconds. Looks, not a time: a
# process that got no processor for seconds knows nothing of its server.
PATIENCE_TICKS = 8
# Of new connections, unless DATABASE_URL says otherwise. While a process is watched: the least that psycopg takes.
CONNECT_SECONDS = 10
WATCHED_CONNECT_SECONDS = 2

Connection = psycopg.Connection[Any]


class HangingError(Exception):
    """The database does not answer, so nothing is asked of it."""


class DatabaseWatch:
    """The connections of this process, and whether their server answers. It watches only after `begin`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sockets: weakref.WeakKeyDictionary[Connection, socket.socket] = weakref.WeakKeyDictionary()
        self._is_watching = False
        self._probe: Connection | None = None
        self._question, self._is_asking = 0, False
        self.is_hanging = False

    def begin(self) -> None:
        """Watch from now on; connections that are open already are not watched."""
        if self._is_watching:
            return
        self._is_watching = True
        for target in (self._ask, self._watch):
            threading.Thread(target=target, name="database watch", daemon=True).start()

    def open(self, connect: Callable[[Mapping[str, Any]], Connection]) -> Connection:
        """Open a connection that is ended when the server hangs.

        Args:
            connect: opens it; receives parameters that those of the configuration override.

        Raises:
            HangingError: the server hangs now.
        """
        if not self._is_watching:
            return connect({"connect_timeout": CONNECT_SECONDS})
        if self.is_hanging:
            raise HangingError("The database is not responding.")
        opened = connect({"connect_timeout": WATCHED_CONNECT_SECONDS})
        # A number of its own: that of the connection may belong to another file after it was closed.
        copy = socket.socket(fileno=os.dup(opened.fileno()))
        weakref.finalize(opened, copy.close)
        with self._lock:
            self._sockets[opened] = copy
        return opened

    def _ask(self) -> None:
        """Ask the server twice a second whether it is there."""
        while True:
            try:
                if self._probe is None or self._probe.closed:
                    # Past Django's connections, which belong to threads that work.
                    self._probe = connect_plainly({"connect_timeout": WATCHED_CONNECT_SECONDS})
                self._question, self._is_asking = self._question + 1, True
                self._probe.execute("SELECT 1")
            except (psycopg.Error, OSError):
                # Refused at once: the next request finds out for itself. What hangs does so until it answers.
                self._probe = None
            else:
                self._note(is_hanging=False)
            self._is_asking = False
            time.sleep(PROBE_SECONDS)

    def _watch(self) -> None:
        """End all connections when the probe waits for too long."""
        question, ticks = 0, 0
        while True:
            time.sleep(TICK_SECONDS)
            ticks = ticks + 1 if question == self._question and self._is_waiting() else 0
            question = self._question
            if ticks >= PATIENCE_TICKS:
                self._note(is_hanging=True)
            if self.is_hanging:
                self._end_connections()

    def _is_waiting(self) -> bool:
        """Return whether the probe was sent and not answered; an answer may lie there unread."""
        probe = self._probe
        if not self._is_asking or probe is None:
            return False
        try:
            return not select.select([probe.fileno()], [], [], 0)[0]
        except (psycopg.Error, OSError, ValueError):
            return False

    def _note(self, *, is_hanging: bool) -> None:
        if is_hanging is self.is_hanging:
            return
        self.is_hanging = is_hanging
        HANGS.set(is_hanging)
        if is_hanging:
            logger.error("the database does not answer: its connections are ended until it does")
        else:
            logger.warning("the database answers again")

    def _end_connections(self) -> None:
        with self._lock:
            copies = list(self._sockets.values())
            self._sockets.clear()
        for copy in copies:
            with suppress(OSError):
                copy.shutdown(socket.SHUT_RDWR)


def connect_plainly(limits: Mapping[str, Any], alias: str = DEFAULT_DB_ALIAS) -> Connection:
    """Open a connection of psycopg to a database of the settings. limits: what its configuration overrides."""
    parameters = connections[alias].get_connection_params()
    known = {name: value for name, value in parameters.items() if name not in {"pool", "cursor_factory", "context"}}
    return psycopg.connect(**{**limits, **known, "autocommit": True})


_watch = PerProcess(DatabaseWatch)


def database_watch() -> DatabaseWatch:
    """Return the watch of this process."""
    return _watch.get()
