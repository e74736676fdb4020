"""Django's backend for PostgreSQL, with connections that are given up when the server hangs."""

import json
import select
import time
from typing import Any

from django.db.backends.postgresql import base
from psycopg.abc import Buffer
from psycopg.types.json import JsonbBinaryLoader

from apps.core.db.sessions import is_direct, session_connection
from apps.core.db.watch import HangingError, database_watch

# A connection that was asked so lately is not asked again, if its socket says nothing.
HEALTHY_SECONDS = 5.0


class JsonLoader(JsonbBinaryLoader):
    """JSON of prepared reads: psycopg guesses the encoding of each, which is always the same."""

    def load(self, data: Buffer) -> Any:
        """Return the value."""
        if data[:1] != b"\x01":
            return super().load(data)
        text = str(data[1:], "utf-8")
        return {} if text == "{}" else json.loads(text)


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that the watch of this process may end."""

    health_check_enabled: bool
    health_check_done: bool
    _healthy_until = 0.0

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Open a connection, unless the server is known to hang."""
        watch = database_watch()
        try:
            opened = watch.open(
                lambda limits: super(DatabaseWrapper, self).get_new_connection({**limits, **conn_params})
            )
        except HangingError as error:
            raise self.Database.OperationalError(str(error)) from error
        opened.adapters.register_loader("jsonb", JsonLoader)
        return opened

    def chunked_cursor(self) -> Any:
        """Return a cursor of the server. Outside a transaction it is one of a session, so of a session's connection."""
        owner = session_connection() if is_direct() and not self.in_atomic_block else self
        assert isinstance(owner, DatabaseWrapper)
        return super(DatabaseWrapper, owner).chunked_cursor()

    def close_if_health_check_failed(self) -> None:
        """Close a connection that does not work any more, so that a new one is opened.

        The question that Django asks takes a trip to the server in each request. A server that ended a connection has
        said so on its socket, and one that fell silent is noticed after HEALTHY_SECONDS, or by the watch.
        """
        if self.connection is None or not self.health_check_enabled or self.health_check_done:
            return
        if time.monotonic() < self._healthy_until and is_quiet(self.connection.fileno()):
            self.health_check_done = True
            return
        super().close_if_health_check_failed()
        self._healthy_until = time.monotonic() + HEALTHY_SECONDS if self.connection is not None else 0.0


def is_quiet(descriptor: int) -> bool:
    """Return whether a socket has neither data nor an end to be read."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return not poll.poll(0)
