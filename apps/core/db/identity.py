"""The identity of the database: what a process caches from one database is not valid for another.

A standby that takes over without having received everything, or a database restored in place of another, may use
the same version numbers for other rows. Both end all connections, so each new connection is checked.
"""

import logging
from collections.abc import Callable
from typing import Any

from django.db import DEFAULT_DB_ALIAS, Error
from django.db.backends.base.base import BaseDatabaseWrapper

logger = logging.getLogger(__name__)
Identity = tuple[str, ...]

# The server, its timeline (another one after each take-over and each point-in-time recovery), and the database in it.
_SQL = """
SELECT (SELECT system_identifier FROM pg_control_system())::text,
       CASE WHEN pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END,
       oid::text
FROM pg_database WHERE datname = current_database()
"""
_known: Identity | None = None
_listeners: list[Callable[[], object]] = []


def on_database_change(clear: Callable[[], object]) -> None:
    """Register a function to call when this process is connected to another database than before."""
    _listeners.append(clear)


def identity_of(connection: BaseDatabaseWrapper) -> Identity | None:
    """Return the identity of the database behind a connection; None where the server does not reveal it."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(_SQL)
            return tuple(cursor.fetchone())
    except Error as error:
        logger.info("the server does not reveal the identity of its database: %s", type(error).__name__)
        return None


def check_new_connection(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Clear the caches when the database is another one. Receives Django's `connection_created`."""
    global _known
    if connection.alias != DEFAULT_DB_ALIAS:
        return
    current = identity_of(connection)
    if current is None or current == _known:
        return
    if _known is not None:
        logger.warning("this is another database than before: all caches of its contents are cleared")
        for clear in _listeners:
            clear()
    _known = current
