"""Advisory locks of a database session: they span transactions, and end with the process or its connection.

Numbers of locks are chosen so that no other advisory lock of the project, and none of another program, has them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def try_session_lock(number: int, key: int | str | None = None) -> Iterator[bool]:
    """Take a lock without waiting, until the end of the block. Yield whether it was free.

    Call it outside a transaction, which the lock shall span. key: of one among many things that share the number; keys
    that differ may share a lock.
    """
    is_held = _call("pg_try_advisory_lock", number, key)
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


def _release(number: int, key: int | str | None) -> None:
    if connection.is_usable():
        _call("pg_advisory_unlock", number, key)
    elif not connection.in_atomic_block:
        # One that broke has released its locks already; the caller's next statement opens another.
        connection.close()


def _call(function: str, number: int, key: int | str | None) -> bool:
    with connection.cursor() as cursor:
        if key is None:
            cursor.execute(f"SELECT {function}(%s)", [number])
        elif isinstance(key, str):
            cursor.execute(f"SELECT {function}(%s, hashtext(%s))", [number, key])
        else:
            cursor.execute(f"SELECT {function}(%s, %s)", [number, key % 2**31])
        return bool(cursor.fetchone()[0])
