"""Advisory locks of a database session: they span transactions, and end with the process or its connection.

Numbers of locks are chosen so that no other advisory lock of the project, and none of another program, has them.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import psycopg
from django.db import OperationalError

from apps.core.db.sessions import session_connection


@contextmanager
def try_session_lock(number: int, key: int | str | None = None) -> Iterator[bool]:
    """Take a lock without waiting, until the end of the block. Yield whether it was free.

    Call it outside a transaction, which the lock shall span. key: of one among many things that share the number; keys
    that differ may share a lock. A thread that holds it gets it once more.
    """
    is_held = take_session_lock(number, key)
    try:
        yield is_held
    finally:
        if is_held:
            _release(number, key)


@contextmanager
def session_lock(number: int, key: int | str | None = None) -> Iterator[None]:
    """Take a lock as `try_session_lock` does, and wait until it is free."""
    _call("pg_advisory_lock", number, key)
    try:
        yield
    finally:
        _release(number, key)


@contextmanager
def patient_session_lock(number: int, key: int | str, seconds: float) -> Iterator[bool]:
    """Take a lock as `try_session_lock` does, and wait for so long until it is free. Yield whether it was."""
    is_held = take_session_lock(number, key) or _wait(number, key, seconds)
    try:
        yield is_held
    finally:
        if is_held:
            _release(number, key)


def take_session_lock(number: int, key: int | str | None = None) -> bool:
    """Take a lock until this thread's session ends. Return whether it was free."""
    return _call("pg_try_advisory_lock", number, key)


def take_session_locks(number: int, keys: Iterable[int]) -> set[int]:
    """Take the locks of many keys without waiting. Return the keys of those that were free."""
    sql = "SELECT key FROM unnest(%s::bigint[]) AS key WHERE pg_try_advisory_lock(%s, (key %% 2147483647)::int)"
    with session_connection().cursor() as cursor:
        cursor.execute(sql, [list(keys), number])
        return {row[0] for row in cursor.fetchall()}


def release_session_locks(number: int, keys: Sequence[int]) -> None:
    """Release the locks of many keys, once each."""
    # A connection that broke has released its locks already.
    if keys and session_connection().is_usable():
        sql = "SELECT pg_advisory_unlock(%s, (key %% 2147483647)::int) FROM unnest(%s::bigint[]) AS key"
        with session_connection().cursor() as cursor:
            cursor.execute(sql, [number, list(keys)])


def _wait(number: int, key: int | str, seconds: float) -> bool:
    function, parameters = _call_of("pg_advisory_lock", number, key)
    # One statement after the other in one trip, whether in a transaction of the caller or in one of their own.
    wait = f"SET LOCAL lock_timeout = %s; SELECT {function}; SET LOCAL lock_timeout TO DEFAULT"
    try:
        with session_connection().cursor() as cursor:
            cursor.execute(wait, [f"{int(seconds * 1_000)}ms", *parameters])
    except OperationalError as error:
        if isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
            return False
        raise
    return True


def _release(number: int, key: int | str | None) -> None:
    connection = session_connection()
    if connection.is_usable():
        _call("pg_advisory_unlock", number, key)
    elif not connection.in_atomic_block:
        # One that broke has released its locks already; the caller's next statement opens another.
        connection.close()


def _call(function: str, number: int, key: int | str | None) -> bool:
    call, parameters = _call_of(function, number, key)
    with session_connection().cursor() as cursor:
        cursor.execute(f"SELECT {call}", parameters)
        return bool(cursor.fetchone()[0])


def _call_of(function: str, number: int, key: int | str | None) -> tuple[str, list[int | str]]:
    """Return the call of a function of PostgreSQL for a lock, and its parameters."""
    if key is None:
        return f"{function}(%s)", [number]
    if isinstance(key, str):
        return f"{function}(%s, hashtext(%s))", [number, key]
    return f"{function}(%s, %s)", [number, key % 2**31]
