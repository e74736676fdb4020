"""What the program checks of its database through Django: connections for sessions, and migrations."""

import psycopg
from django.db import connections
from django.db.migrations.loader import MigrationLoader

from apps.core.db.sessions import find_session_fault, is_direct, session_alias
from memoryhub.postgres.check import CONNECT_SECONDS, DatabaseUnfitError


def known_migrations(loader: MigrationLoader) -> set[tuple[str, str]]:
    """Return app and name of every migration that this version has, or has squashed into another one."""
    replaced = {key for migration in loader.disk_migrations.values() for key in migration.replaces}
    return loader.disk_migrations.keys() | replaced


def require_sessions() -> None:
    """Check that notifications arrive and locks hold on connections for sessions. Raises DatabaseUnfitError."""
    try:
        fault = find_session_fault({"connect_timeout": CONNECT_SECONDS})
    except psycopg.Error as error:
        raise DatabaseUnfitError(describe_unreachable(error)) from None
    if fault:
        raise DatabaseUnfitError(fault)


def describe_unreachable(error: psycopg.Error) -> str:
    """Return why connections for sessions cannot be used, without a password."""
    name = "MEMORYHUB_DIRECT_DATABASE_URL" if is_direct() else "DATABASE_URL"
    message = " ".join(str(error).split())
    if password := connections[session_alias()].settings_dict.get("PASSWORD"):
        message = message.replace(str(password), "…")
    return f"The server that {name} names cannot be used: {message}"
