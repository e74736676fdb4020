"""The triggers that say whose rows a change concerns, so that each person's pages hear of what is theirs.

They run once a statement, look at the rows that it changed, and notify a digest of each user with a topic. A table with
such triggers has a column `user_id`.
"""

from collections.abc import Mapping, Sequence

from django.conf import settings
from django.db.backends.utils import CursorWrapper
from django.utils.module_loading import import_string

from apps.live.domain.topics import DIGEST_CHARS

OWN_CHANNEL = "memoryhub_own"
NAME = "memoryhub_own"
# A trigger that sees the changed rows is of one kind of statement.
KINDS = {"insert": "NEW", "update": "NEW", "delete": "OLD"}
_BODY = f"""
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
_FUNCTION = f"""
CREATE OR REPLACE FUNCTION {NAME}() RETURNS trigger LANGUAGE plpgsql AS $body$
{_BODY}$body$
"""
_FUNCTION_NOW = """
SELECT prosrc FROM pg_proc WHERE proname = %s AND pronamespace = current_schema()::regnamespace AND pronargs = 0
"""
_TRIGGERS = """
SELECT c.relname, t.tgname, encode(t.tgargs, 'escape'), t.tgenabled
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
WHERE p.proname = %s AND NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace
"""


def own_tables() -> Mapping[str, Sequence[str]]:
    """Return the topics of each table whose changes its users hear of (settings.LIVE_OWN_TABLES)."""
    tables: Mapping[str, Sequence[str]] = import_string(settings.LIVE_OWN_TABLES)
    return tables


def install_own_triggers(cursor: CursorWrapper, tables: set[str]) -> int:
    """Make the triggers of tables be those of `own_tables`. Return how many were made or dropped."""
    cursor.execute(_FUNCTION_NOW, [NAME])
    row = cursor.fetchone()
    if row is None or row[0].strip() != _BODY.strip():
        cursor.execute(_FUNCTION)
    cursor.execute(_TRIGGERS, [NAME])
    present = {(table, name): (arguments, enabled) for table, name, arguments, enabled in cursor.fetchall()}
    wanted = {
        (table, f"{NAME}_{kind}"): topics for table, topics in own_tables().items() for kind in KINDS if table in tables
    }
    right = {place: ("".join(f"{topic}\\000" for topic in topics), "O") for place, topics in wanted.items()}
    changed = [place for place in {**present, **right} if present.get(place) != right.get(place)]
    for table, name in sorted(changed):
        _replace(cursor, table, name, wanted.get((table, name)))
    return len(changed)


def _replace(cursor: CursorWrapper, table: str, name: str, topics: Sequence[str] | None) -> None:
    quoted, kind = cursor.db.ops.quote_name(table), name.removeprefix(f"{NAME}_")
    cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON {quoted}")
    if topics is not None:
        arguments = ", ".join(f"'{topic}'" for topic in topics)
        cursor.execute(
            f"CREATE TRIGGER {name} AFTER {kind.upper()} ON {quoted} REFERENCING {KINDS[kind]} TABLE AS changed "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {NAME}({arguments})"
        )
