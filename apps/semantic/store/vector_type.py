"""Vectors in binary on a connection of psycopg."""

import weakref
from typing import Any

from django.db import connection
from pgvector.psycopg import register_vector
from psycopg import Connection

_known: "weakref.WeakSet[Connection[Any]]" = weakref.WeakSet()


def know_vectors() -> None:
    """Have the connection of this thread read and write vectors in binary.

    Once for each connection: registering asks the database, and makes classes that psycopg keeps for good.
    """
    connection.ensure_connection()
    raw = connection.connection
    if raw not in _known:
        register_vector(raw)
        _known.add(raw)
