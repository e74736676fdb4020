"""Uses and refusals of keys: counted in memory, written with the signs of life of the process."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.core.domain.scope import Permission, Scope
from apps.core.health import report_process
from apps.core.key_usage import KEPT_DAYS, MAX_UNKNOWN, key_usage
from apps.core.models import ApiKey, KeyDay
from apps.core.services import key_create, key_revoke
from tests.api import Api

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_counts() -> Iterator[None]:
    key_usage().flush()
    yield
    key_usage().flush()


def a_key(permission: Permission = Permission.READ) -> tuple[ApiKey, Api]:
    key, secret = key_create(name="kitchen", scope=Scope("ana"), permission=permission, actor="test")
    return key, Api(secret)


def counted(key: ApiKey) -> list[tuple[int, int]]:
    return list(KeyDay.objects.filter(key=key).values_list("used", "refused"))


def test_requests_and_refusals_are_added_up() -> None:
    key, api = a_key()
    for _ in range(2):
        api.get("/api/semantic/memories")
        api.post("/api/semantic/memories", {"content": "tea"})
        report_process()
    assert counted(key) == [(2, 2)]


def test_request_costs_no_statement_for_it() -> None:
    key, api = a_key()
    api.get("/api/semantic/memories")
    with CaptureQueriesContext(connection) as made:
        api.get("/api/semantic/memories")
    assert not [one for one in made if "core_keyday" in one["sql"]]
    assert counted(key) == []


def test_secret_of_a_revoked_key_counts_as_its_refusal() -> None:
    key, api = a_key()
    key_revoke(uuid=key.uuid)
    api.get("/api/semantic/memories")
    key_usage().flush()
    assert counted(key) == [(0, 1)]


def test_secrets_that_nobody_has_take_bounded_memory() -> None:
    key, _ = a_key()
    for number in range(MAX_UNKNOWN + 10):
        key_usage().note_refused_secret(f"mh_{number:0>40}")
    assert len(key_usage()._unknown) == MAX_UNKNOWN
    key_usage().flush()
    assert counted(key) == []


def test_old_days_are_forgotten() -> None:
    key, _ = a_key()
    KeyDay.objects.create(key=key, day=timezone.now().date() - timedelta(days=KEPT_DAYS + 1), used=1)
    key_usage()._trimmed = None
    key_usage().flush()
    assert counted(key) == []


@pytest.mark.django_db(transaction=True)
def test_counts_wait_for_a_database_that_does_not_answer() -> None:
    key, api = a_key()
    api.get("/api/semantic/memories")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE core_keyday RENAME TO core_keyday_away")
    try:
        key_usage().flush()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE core_keyday_away RENAME TO core_keyday")
    key_usage().flush()
    assert counted(key) == [(1, 0)]
