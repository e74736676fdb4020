"""Every writer notifies, whatever it writes with, and only when it has changed something."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.db import connection, transaction

from apps.core.db.watch import connect_plainly
from apps.core.domain.scope import Permission, Scope, system_access
from apps.core.services import key_create
from apps.live.triggers import CHANNEL, install_triggers
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.services import memory_save

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def listening() -> Iterator[psycopg.Connection]:
    with connect_plainly({}) as listener:
        listener.execute(f"LISTEN {CHANNEL}")
        yield listener


def heard(listener: psycopg.Connection) -> list[str]:
    """What has been notified until now."""
    listener.execute("SELECT 1")
    return sorted(one.payload for one in listener.notifies(timeout=0))


def in_new_session(statement: str) -> None:
    with connect_plainly({}) as session:
        session.execute(statement)


@contextmanager
def table() -> Iterator[str]:
    """A table of its own, with a trigger."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE rules_probe (id bigint)")
        cursor.execute(
            "CREATE TRIGGER probe AFTER INSERT OR UPDATE OR DELETE ON rules_probe "
            "FOR EACH STATEMENT EXECUTE FUNCTION memoryhub_live('rules', 'jobs')"
        )
        try:
            yield "rules_probe"
        finally:
            cursor.execute("DROP TABLE rules_probe")


def test_a_save_notifies_when_it_commits_and_not_when_it_does_not() -> None:
    access = system_access("test")
    with listening() as listener:
        with transaction.atomic():
            memory_save(access=access, draft=MemoryDraft("Ana drinks tea", scope=Scope("ana")))
            assert heard(listener) == []
        assert "memories" in heard(listener)
        with transaction.atomic():
            memory_save(access=access, draft=MemoryDraft("Ana drinks coffee", scope=Scope("ana")))
            transaction.set_rollback(True)
        assert heard(listener) == []


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO rules_probe SELECT generate_series(1, 1000)",
        "UPDATE rules_probe SET id = id + 1",
        "DELETE FROM rules_probe",
        "INSERT INTO rules_probe VALUES (1); INSERT INTO rules_probe VALUES (2); DELETE FROM rules_probe",
    ],
)
def test_each_kind_of_statement_notifies_each_topic_once(statement: str) -> None:
    with table() as name, listening() as listener:
        in_new_session(f"INSERT INTO {name} VALUES (0)")
        heard(listener)
        in_new_session(statement)
        assert heard(listener) == ["jobs", "rules"]


@pytest.mark.parametrize("statement", ["UPDATE rules_probe SET id = 1", "DELETE FROM rules_probe"])
def test_a_statement_that_changes_no_row_notifies_nothing(statement: str) -> None:
    with table(), listening() as listener:
        in_new_session(statement)
        assert heard(listener) == []


def test_rows_that_are_copied_notify() -> None:
    with table() as name, listening() as listener:
        with connect_plainly({}) as session, session.cursor().copy(f"COPY {name} FROM STDIN") as copy:
            copy.write_row((1,))
        assert heard(listener) == ["jobs", "rules"]


def test_only_what_is_missing_or_differs_is_installed_again() -> None:
    assert install_triggers() == 0
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER memoryhub_live ON rules_mergerule")
        cursor.execute("ALTER TABLE core_apikey DISABLE TRIGGER memoryhub_live")
        cursor.execute(
            "CREATE TRIGGER memoryhub_live AFTER INSERT ON semantic_memoryshard "
            "FOR EACH STATEMENT EXECUTE FUNCTION memoryhub_live('memories')"
        )
    assert install_triggers() == 3
    assert install_triggers() == 0
    with listening() as listener:
        key_create(name="app", scope=Scope("ana"), permission=Permission.READ, actor="test")
        assert heard(listener) == ["keys"]
