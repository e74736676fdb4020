"""The triggers that say which topics a change belongs to, so that no writer can forget it.

They run once a statement and send the topics as notifications, which PostgreSQL delivers when the transaction commits,
each topic once.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.utils import CursorWrapper
from django.utils.module_loading import import_string

from apps.live.own_triggers import install_own_triggers

CHANNEL = "memoryhub_live"
NAME = "memoryhub_live"
# AFTER INSERT OR DELETE OR UPDATE, for each statement (pg_trigger.tgtype).
KIND = 4 | 8 | 16
# Queues and heartbeats are asked with statements that mostly change no row. The counts of the transaction say so, at
# no cost that can be measured; they may include the session's former transaction, and never leave anything out.
_BODY = f"""
BEGIN
    IF pg_stat_get_xact_tuples_inserted(TG_RELID) + pg_stat_get_xact_tuples_updated(TG_RELID)
            + pg_stat_get_xact_tuples_deleted(TG_RELID) = 0 AND current_setting('track_counts')::boolean THEN
        RETURN NULL;
    END IF;
    FOR number IN 0 .. TG_NARGS - 1 LOOP
        PERFORM pg_notify('{CHANNEL}', TG_ARGV[number]);
    END LOOP;
    RETURN NULL;
END
"""
_FUNCTION = f"""
CREATE OR REPLACE FUNCTION {NAME}() RETURNS trigger LANGUAGE plpgsql AS $body$
{_BODY}$body$
"""
_FUNCTION_NOW = """
SELECT prosrc FROM pg_proc WHERE proname = %s AND pronamespace = current_schema()::regnamespace AND pronargs = 0
"""
_TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
_TRIGGERS = """
SELECT c.relname, encode(t.tgargs, 'escape'), t.tgtype, t.tgenabled
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE t.tgname = %s AND NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace
"""


def watched_tables() -> Mapping[str, Sequence[str]]:
    """Return the topics of each table that is watched (settings.LIVE_TABLES)."""
    tables: Mapping[str, Sequence[str]] = import_string(settings.LIVE_TABLES)
    return tables


def install_triggers(using: str = DEFAULT_DB_ALIAS, **_: Any) -> int:
    """Make the triggers be those of `watched_tables`. Return how many were made or dropped.

    Only what is missing or differs is touched, because each of them takes a lock on its table.
    """
    with transaction.atomic(using), connections[using].cursor() as cursor:
        _ensure_function(cursor)
        cursor.execute(_TABLES)
        tables = {name for (name,) in cursor.fetchall()}
        wanted = {table: topics for table, topics in watched_tables().items() if table in tables}
        cursor.execute(_TRIGGERS, [NAME])
        present = {table: (arguments, kind, enabled) for table, arguments, kind, enabled in cursor.fetchall()}
        right = {table: ("".join(f"{topic}\\000" for topic in topics), KIND, "O") for table, topics in wanted.items()}
        changed = [table for table in {**present, **right} if present.get(table) != right.get(table)]
        for table in sorted(changed):
            _replace(cursor, table, wanted.get(table))
        own = install_own_triggers(cursor, tables)
    return len(changed) + own


def _ensure_function(cursor: CursorWrapper) -> None:
    cursor.execute(_FUNCTION_NOW, [NAME])
    row = cursor.fetchone()
    if row is None or row[0].strip() != _BODY.strip():
        cursor.execute(_FUNCTION)


def _replace(cursor: CursorWrapper, table: str, topics: Sequence[str] | None) -> None:
    quoted = cursor.db.ops.quote_name(table)
    cursor.execute(f"DROP TRIGGER IF EXISTS {NAME} ON {quoted}")
    if topics is not None:
        arguments = ", ".join(f"'{topic}'" for topic in topics)
        cursor.execute(
            f"CREATE TRIGGER {NAME} AFTER INSERT OR UPDATE OR DELETE ON {quoted} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {NAME}({arguments})"
        )
