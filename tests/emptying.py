"""Emptying tables between tests, also that of the audit, whose trigger refuses it."""

from collections.abc import Iterable

from django.db import connection

AUDIT = "audit_auditentry"


def truncate(tables: Iterable[str], more: str = "") -> None:
    """Empty tables, as only their owner can where a trigger refuses it. more: further words of the statement."""
    chosen = list(tables)
    names = ", ".join(connection.ops.quote_name(name) for name in chosen)
    before, after = (
        f"ALTER TABLE {AUDIT} {what} TRIGGER audit_entry_whole;" if AUDIT in chosen else ""
        for what in ("DISABLE", "ENABLE")
    )
    with connection.cursor() as cursor:
        cursor.execute(f"{before} TRUNCATE {names} {more} CASCADE; {after}")
