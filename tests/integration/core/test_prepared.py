"""Prepared reads: they give what the ORM gives."""

from datetime import timedelta

import pytest
from django.db import ProgrammingError, connection, transaction
from django.db.transaction import TransactionManagementError
from django.forms.models import model_to_dict
from psycopg import Cursor

from apps.core.db.prepared import PreparedSelect, read_prepared
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey
from apps.core.services import key_create

pytestmark = pytest.mark.django_db


def make(name: str, user: str | None = None) -> ApiKey:
    later = utcnow(SYSTEM_CLOCK) + timedelta(days=1)
    key, _ = key_create(
        name=name, scope=Scope(user), permission=Permission.READ, actor="test", expires_at=later if user else None
    )
    return key


def test_rows_are_what_the_orm_gives() -> None:
    made = [make("one"), make("two", "ana")]
    rows = PreparedSelect(ApiKey, "id = ANY(%(ids)s)").rows({"ids": [key.pk for key in made]})
    assert sorted(rows, key=lambda key: key.pk) == made
    for row in rows:
        stored = ApiKey.objects.get(pk=row.pk)
        assert {name: getattr(row, name) for name in vars(stored) if name != "_state"} == {
            name: value for name, value in vars(stored).items() if name != "_state"
        }
        assert model_to_dict(row) == model_to_dict(stored)
        assert vars(row._state) == vars(stored._state)
        assert not row.get_deferred_fields()


def test_a_row_can_be_changed_and_saved() -> None:
    key = make("one")
    [row] = PreparedSelect(ApiKey, "id = %(id)s").rows({"id": key.pk})
    row.name = "other"
    row.save()
    assert ApiKey.objects.get(pk=key.pk).name == "other"


def test_field_that_was_left_out_is_read_when_it_is_asked_for() -> None:
    key = make("one")
    [row] = PreparedSelect(ApiKey, "id = %(id)s", defer={"digest", "shown"}).rows({"id": key.pk})
    assert row.get_deferred_fields() == {"digest", "shown"}
    assert row.shown == key.shown
    assert row.get_deferred_fields() == {"digest"}


def test_what_is_asked_besides_is_answered_of_same_moment() -> None:
    key = make("one")
    select = PreparedSelect(ApiKey, "id = %(id)s", extra="(SELECT count(*) FROM core_apikey WHERE name = %(name)s)")
    assert select.rows_with_extra({"id": key.pk, "name": "one"}) == (1, [key])
    assert select.rows_with_extra({"id": key.pk, "name": "two"}) == (0, [key])
    assert select.rows_with_extra({"id": 0, "name": "one"}) == (None, [])


def test_errors_are_those_of_the_orm() -> None:
    with pytest.raises(ProgrammingError), transaction.atomic():
        read_prepared("SELECT nothing FROM nowhere", {})


def test_transaction_that_is_to_be_rolled_back_is_not_read_in() -> None:
    with transaction.atomic():
        transaction.set_rollback(True)
        with pytest.raises(TransactionManagementError):
            read_prepared("SELECT 1", {})


def prepared(beginning: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s", [f"{beginning}%"])
        (count,) = cursor.fetchone()
    return int(count)


def test_statements_that_do_not_ask_for_it_are_not_prepared() -> None:
    connection.ensure_connection()
    with Cursor(connection.connection) as cursor:
        for _ in range(12):
            cursor.execute("SELECT 41 FROM core_apikey WHERE id = %s", [1])
    assert prepared("SELECT 41") == 0
    for _ in range(2):
        read_prepared("SELECT 42 FROM core_apikey WHERE id = %(id)s", {"id": 1})
    assert prepared("SELECT 42") == 1
