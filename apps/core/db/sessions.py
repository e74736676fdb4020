"""The door to connections of the database that are the caller's own from one statement to the next.

LISTEN, locks that outlive a transaction, and cursors outside one belong to a session of the server. A pooler such as
PgBouncer in transaction mode gives each transaction another one: what is listened for never arrives, and a lock stays
with a connection that somebody else has by then. `settings.DATABASES["direct"]` is the database without the pooler
(MEMORYHUB_DIRECT_DATABASE_URL); where there is none, sessions are those of the default connections.
"""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from apps.core.db.watch import Connection, connect_plainly
from apps.core.domain.words import gettext_noop as _

DIRECT = "direct"
# A notification of one's own arrives within milliseconds; a server that is busy may need longer.
ARRIVAL_SECONDS = 5.0
# How often two connections are asked which process of the server they have, in turn.
_ASKED = 3
NO_DIRECT = _(
    "DATABASE_URL names a pooler that gives each transaction another connection of the server (transaction mode), so "
    "notifications do not arrive and locks do not hold: set MEMORYHUB_DIRECT_DATABASE_URL to the address of the "
    "database itself."
)
WRONG_DIRECT = _(
    "Notifications do not arrive or locks do not hold on connections of MEMORYHUB_DIRECT_DATABASE_URL: set it to the "
    "address of the database itself, not of a pooler in transaction mode."
)
OTHER_DATABASE = _(
    "A notification that was sent through DATABASE_URL did not arrive at MEMORYHUB_DIRECT_DATABASE_URL: both must be "
    "the same database of the same server."
)


def is_direct() -> bool:
    """Return whether sessions have an address of their own."""
    return DIRECT in settings.DATABASES


def session_alias() -> str:
    """Return the alias of the connections whose sessions are the caller's own."""
    return DIRECT if is_direct() else DEFAULT_DB_ALIAS


def session_connection() -> BaseDatabaseWrapper:
    """Return this thread's connection whose session is its own: the default one, or the direct one beside it."""
    return connections[session_alias()]


def connect_session(limits: Mapping[str, Any]) -> Connection:
    """Open a connection of psycopg whose session is its own. limits: what its configuration overrides."""
    return connect_plainly(limits, session_alias())


@contextmanager
def default_is_direct() -> Iterator[None]:
    """Have every default connection of this process opened without the pooler, until the end of the block."""
    if not is_direct():
        yield
        return
    # Connections of all threads, which are opened in the block, have this dictionary.
    default = connections[DEFAULT_DB_ALIAS].settings_dict
    before = dict(default)
    connections[DEFAULT_DB_ALIAS].close()
    default.update(connections[DIRECT].settings_dict)
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS].close()
        default.update(before)


def find_session_fault(limits: Mapping[str, Any] | None = None) -> str | None:
    """Try whether notifications arrive and locks hold. Return which setting is missing or wrong; None where they do.

    limits: of the connections that are opened for it. Raises psycopg.Error where the database cannot be reached.
    """
    limits = limits or {}
    fault = WRONG_DIRECT if is_direct() else NO_DIRECT
    with closing(connect_session(limits)) as first, closing(connect_session(limits)) as second:
        # First, because it leaves nothing behind on a connection that others use.
        if not (keeps_session(first, second) and _locks_hold(first, second)):
            return fault
        if hears(first, second):
            with closing(connect_plainly(limits)) as sender:
                return None if not is_direct() or hears(first, sender) else OTHER_DATABASE
    return fault


def keeps_session(first: Connection, second: Connection) -> bool:
    """Return whether each of two connections keeps a process of the server for itself."""
    asked = "SELECT pg_backend_pid()"
    seen = {(_value(first, asked), _value(second, asked)) for _time in range(_ASKED)}
    if len(seen) != 1 or len(set(*seen)) != 2:
        return False
    # One that has a transaction open takes the place of the first, where they share.
    with second.transaction():
        second.execute("SELECT 1")
        return (_value(first, asked), _value(second, asked)) in seen


def _locks_hold(first: Connection, second: Connection) -> bool:
    """Return whether a lock that a connection has is kept from another one until it is released."""
    key = secrets.randbits(62)
    is_taken = _value(first, "SELECT pg_try_advisory_lock(%s)", key)
    is_free = _value(second, "SELECT pg_try_advisory_lock(%s)", key)
    return bool(is_taken and not is_free and _value(first, "SELECT pg_advisory_unlock(%s)", key))


def hears(listener: Connection, sender: Connection) -> bool:
    """Return whether a connection hears what another one notifies, without asking."""
    channel = f"memoryhub_proof_{secrets.token_hex(8)}"
    listener.execute(f"LISTEN {channel}")
    sender.execute("SELECT pg_notify(%s, '')", [channel])
    heard = list(listener.notifies(timeout=ARRIVAL_SECONDS, stop_after=1))
    listener.execute(f"UNLISTEN {channel}")
    return bool(heard)


def _value(connection: Connection, sql: str, *parameters: object) -> Any:
    row = connection.execute(sql, parameters).fetchone()
    return row[0] if row else None
