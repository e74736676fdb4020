"""Check whether the server behind DATABASE_URL is suitable.

The supervisor of a hub does so as well, which runs as long as the hub does: nothing here needs Django.
"""

from typing import Any

import psycopg

MIN_SERVER = 15
MIN_VECTOR = (0, 8)
CONNECT_SECONDS = 10


class DatabaseUnfitError(Exception):
    """The server cannot be reached or lacks something; the text says what, and never the password."""


def judge(version_num: int, installed: str | None, available: str | None) -> str | None:
    """Return what is wrong with a server, and what would be right; None when nothing is.

    version_num: as `server_version_num` (160004 is 16.4). installed: version of pgvector in this database.
    available: version that could be installed.
    """
    if version_num < MIN_SERVER * 10_000:
        version = version_num // 10_000
        return f"DATABASE_URL names PostgreSQL {version}; version {MIN_SERVER} is the oldest that works."
    vector = installed or available
    if vector is None:
        return (
            "DATABASE_URL names a server without pgvector: install the extension `vector` 0.8 or newer on it "
            "(https://github.com/pgvector/pgvector), or unset DATABASE_URL to use the embedded server."
        )
    if version_parts(vector) >= MIN_VECTOR:
        return None
    if installed and available and version_parts(available) >= MIN_VECTOR:
        return f"This database has pgvector {installed}: run `ALTER EXTENSION vector UPDATE` in it first."
    return f"DATABASE_URL names a server with pgvector {vector}; version 0.8 is the oldest that works."


def require_fit_server(settings: dict[str, Any]) -> None:
    """Check the server of a DATABASES entry, and install pgvector in its database when it is missing.

    Raises DatabaseUnfitError.
    """
    options = {key: value for key, value in settings.get("OPTIONS", {}).items() if key != "pool"}
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    parameters = {theirs: settings[ours] for ours, theirs in names.items() if settings.get(ours)}
    sql = "SELECT installed_version, default_version FROM pg_available_extensions WHERE name = 'vector'"
    try:
        with psycopg.connect(
            **{"connect_timeout": CONNECT_SECONDS, **options, **parameters}, autocommit=True
        ) as connection:
            installed, available = connection.execute(sql).fetchone() or (None, None)
            if problem := judge(connection.info.server_version, installed, available):
                raise DatabaseUnfitError(problem)
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except psycopg.errors.InsufficientPrivilege:
        raise DatabaseUnfitError(
            "pgvector is on the server that DATABASE_URL names, but this role may not install it: "
            "have a superuser run `CREATE EXTENSION vector` in the database once."
        ) from None
    except psycopg.OperationalError as error:
        message = " ".join(str(error).split())
        if password := settings.get("PASSWORD"):
            message = message.replace(str(password), "…")
        raise DatabaseUnfitError(f"The server that DATABASE_URL names cannot be used: {message}") from None


def version_parts(version: str) -> tuple[int, ...]:
    """Return major and minor version as numbers."""
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
