"""The triggers that say which topics a change belongs to, so that no writer can forget it.

They run once a statement and send the topics as notifications, which PostgreSQL delivers when the transaction commits,
each topic once. Those of people say whose rows a change concerns, so that each person's pages hear of what is theirs:
they look at the rows that a statement changed, and notify a digest of each user with a topic. A table with such
triggers has a column `user_id`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.utils import CursorWrapper
from django.utils.module_loading import import_string

from apps.live.domain.topics import DIGEST_CHARS

CHANNEL, OWN_CHANNEL = "memoryhub_live", "memoryhub_own"
# Of the triggers and of their functions.
NAME, OWN_NAME = "memoryhub_live", "memoryhub_own"
# A trigger that sees the changed rows is of one kind of statement.
OWN_KINDS = {"insert": "NEW", "update": "NEW", "delete": "OLD"}
# For each statement, after it (pg_trigger.tgtype).
KINDS = {"insert": 4, "delete": 8, "update": 16}
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
_OWN_BODY = f"""
DECLARE
    person text;
BEGIN
    FOR person IN SELECT DISTINCT user_id FROM changed WHERE user_id <> '' LOOP
        person := left(encode(sha256(convert_to(person, 'UTF8')), 'hex'), {DIGEST_CHARS});
        FOR number IN 0 .. TG_NARGS - 1 LOOP
            PERFORM pg_notify('{OWN_CHANNEL}', person || ' ' || TG_ARGV[number]);
        END LOOP;
    END LOOP;
    RETURN NULL;
END
"""  # noqa: S608  (built from constants)
_FUNCTION = "CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $body$\n{body}$body$"
_FUNCTION_NOW = """
SELECT prosrc FROM pg_proc WHERE proname = %s AND pronamespace = current_schema()::regnamespace AND pronargs = 0
"""
_TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
_TRIGGERS = """
SELECT c.relname, t.tgname, encode(t.tgargs, 'escape'), t.tgtype, t.tgenabled
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
WHERE p.proname = %s AND NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace
"""
Topics = Mapping[str, Sequence[str]]


def watched_tables() -> Topics:
    """Return the topics of each table that is watched (settings.LIVE_TABLES)."""
    tables: Topics = import_string(settings.LIVE_TABLES)
    return tables


def install_triggers(using: str = DEFAULT_DB_ALIAS, **_: Any) -> int:
    """Make the triggers be those of settings.LIVE_TABLES, and those whose changes their users hear of.

    The latter are of settings.LIVE_OWN_TABLES. Only what is missing or differs is touched, because each of them takes a
    lock on its table. Return how many were made or dropped.
    """
    own: Topics = import_string(settings.LIVE_OWN_TABLES)
    with transaction.atomic(using), connections[using].cursor() as cursor:
        cursor.execute(_TABLES)
        tables = {name for (name,) in cursor.fetchall()}
        of_hub = {(table, NAME): topics for table, topics in watched_tables().items() if table in tables}
        of_people = {
            (table, f"{OWN_NAME}_{kind}"): topics
            for table, topics in own.items()
            for kind in OWN_KINDS
            if table in tables
        }
        return _install(cursor, NAME, _BODY, of_hub) + _install(cursor, OWN_NAME, _OWN_BODY, of_people)


def _install(cursor: CursorWrapper, function: str, body: str, wanted: Mapping[tuple[str, str], Sequence[str]]) -> int:
    """Make the triggers of a function be those that are wanted, by table and name; return how many were not."""
    cursor.execute(_FUNCTION_NOW, [function])
    row = cursor.fetchone()
    if row is None or row[0].strip() != body.strip():
        cursor.execute(_FUNCTION.format(name=function, body=body))
    cursor.execute(_TRIGGERS, [function])
    present = {
        (table, name): (arguments, kinds, enabled) for table, name, arguments, kinds, enabled in cursor.fetchall()
    }
    right = {}
    for (table, name), topics in wanted.items():
        kind = name.removeprefix(f"{OWN_NAME}_")
        right[table, name] = ("".join(f"{topic}\\000" for topic in topics), KINDS.get(kind, sum(KINDS.values())), "O")
    changed = [place for place in {**present, **right} if present.get(place) != right.get(place)]
    for table, name in sorted(changed):
        quoted, kind = cursor.db.ops.quote_name(table), name.removeprefix(f"{OWN_NAME}_")
        cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON {quoted}")
        if (table, name) in wanted:
            arguments = ", ".join(f"'{topic}'" for topic in wanted[table, name])
            if function == NAME:
                when = f"INSERT OR UPDATE OR DELETE ON {quoted}"
            else:
                when = f"{kind.upper()} ON {quoted} REFERENCING {OWN_KINDS[kind]} TABLE AS changed"
            cursor.execute(
                f"CREATE TRIGGER {name} AFTER {when} FOR EACH STATEMENT EXECUTE FUNCTION {function}({arguments})"
            )
    return len(changed)
