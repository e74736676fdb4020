"""Another database in the place of the one before is noticed with the first new connection."""

from contextlib import closing

import pytest
from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper

from apps.core.db import identity
from apps.core.db.identity import check_new_connection, identity_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was forgotten, by a process that knows this database."""
    calls: list[str] = []
    monkeypatch.setattr(identity, "_listeners", [lambda: calls.append("all")])
    monkeypatch.setattr(identity, "_known", identity_of(connection))
    return calls


def of_database(name: str) -> tuple[str, ...] | None:
    settings = {**connection.settings_dict, "NAME": name}
    with closing(DatabaseWrapper(settings, alias="default")) as other:
        return identity_of(other)


def test_each_database_has_an_identity_of_its_own(forgotten: list[str]) -> None:
    here = identity_of(connection)
    assert here is not None
    assert all(here)
    assert of_database(connection.settings_dict["NAME"]) == here
    there = of_database("postgres")
    assert there is not None
    assert there[:2] == here[:2]
    assert there[2] != here[2]
    assert forgotten == ["all"]


def test_new_connection_to_same_database_forgets_nothing(forgotten: list[str]) -> None:
    check_new_connection(connection)
    assert forgotten == []


def test_new_connection_to_another_database_forgets_everything_once(
    forgotten: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "_known", ("1", "00000001", "1"))
    check_new_connection(connection)
    check_new_connection(connection)
    assert forgotten == ["all"]
    assert identity._known == identity_of(connection)


def test_first_connection_of_process_forgets_nothing(forgotten: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "_known", None)
    check_new_connection(connection)
    assert forgotten == []


def test_server_that_does_not_tell_is_used_all_same(forgotten: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    before = identity._known
    monkeypatch.setattr(identity, "_SQL", "SELECT no_such_function()")
    with closing(DatabaseWrapper({**connection.settings_dict}, alias="default")) as other:
        other.ensure_connection()
        with other.cursor() as cursor:
            cursor.execute("SELECT 1")
            assert cursor.fetchone() == (1,)
    assert (forgotten, identity._known) == ([], before)
