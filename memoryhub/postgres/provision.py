"""What the embedded server must hold before Django can use it: a role, a database, the vector extension."""

from typing import Any

import psycopg
from psycopg import sql

from memoryhub.postgres.config import DATABASE, ROLE

Connection = psycopg.Connection[tuple[Any, ...]]


def ensure_role_and_database(connection: Connection) -> None:
    """Make role and database where they are missing; `connection` is the superuser's, to template1."""
    role, database = sql.Identifier(ROLE), sql.Identifier(DATABASE)
    if not _exists(connection, b"SELECT 1 FROM pg_roles WHERE rolname = %s", ROLE):
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEDB").format(role))
    # An error message may quote what was stored; the application logs its own errors.
    connection.execute(sql.SQL("ALTER ROLE {} SET log_min_messages = 'log'").format(role))
    # In the template, so that every new database has it (the role itself may not install it).
    ensure_vector(connection)
    if not _exists(connection, b"SELECT 1 FROM pg_database WHERE datname = %s", DATABASE):
        connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, role))


def ensure_vector(connection: Connection) -> None:
    """Install pgvector, or bring it to the version of the binaries, in the database of `connection`."""
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    connection.execute("ALTER EXTENSION vector UPDATE")


def _exists(connection: Connection, query: bytes, value: str) -> bool:
    return connection.execute(query, (value,)).fetchone() is not None
