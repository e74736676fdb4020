"""Which database this is: what a process keeps in memory of one is worth nothing with another.

A standby that takes over without having got everything, or a database restored in the place of another, may give
the same version numbers to other rows. Both end all connections, so a new one is when to ask.
"""

import logging
from collections.abc import Callable
from typing import Any

from django.db import DEFAULT_DB_ALIAS, Error
from django.db.backends.base.base import BaseDatabaseWrapper

logger = logging.getLogger(__name__)
Identity = tuple[str, ...]

# The server, its timeline (another one after each take-over and each recovery to a moment), and the database in it.
_SQL = """
SELECT (SELECT system_identifier FROM pg_control_system())::text,
       CASE WHEN pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END,
       oid::text
FROM pg_database WHERE datname = current_database()
"""
_known: Identity | None = None
_forgetting: list[Callable[[], object]] = []


def forget_with_database(forget: Callable[[], object]) -> None:
    """Have something called when this process turns out to be connected to another database than before."""
    _forgetting.append(forget)


def identity_of(connection: BaseDatabaseWrapper) -> Identity | None:
    """Of the database behind a connection; None where the server does not tell."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(_SQL)
            return tuple(cursor.fetchone())
    except Error as error:
        logger.info("the database does not say which one it is: %s", type(error).__name__)
        return None


def look_at_new_connection(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Forget what was read from another database. Receives Django's `connection_created`."""
    global _known
    if connection.alias != DEFAULT_DB_ALIAS:
        return
    now = identity_of(connection)
    if now is None or now == _known:
        return
    if _known is not None:
        logger.warning("this is another database than before: what was kept in memory of that one is forgotten")
        for forget in _forgetting:
            forget()
    _known = now
