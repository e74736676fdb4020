import threading

import pytest
from django.conf import settings
from django.db import connection

from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey
from apps.core.services import key_create
from apps.episodic.models import RetentionPolicy
from apps.rules.models import MergeRule
from tests import emptying
from tests.emptying import empty_written


@pytest.mark.django_db
def test_test_database_is_embedded_one_with_pgvector():
    with connection.cursor() as cursor:
        cursor.execute("SELECT '[1,2]'::vector <-> '[1,3]'::vector, current_database(), current_user")
        distance, name, user = cursor.fetchone()
    assert distance == 1.0
    assert name.startswith("test_memoryhub")
    assert user == "memoryhub"


@pytest.mark.django_db
def test_role_may_run_migration_that_asks_for_extension():
    with connection.cursor() as cursor:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
        cursor.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        assert cursor.fetchone()[0] >= "0.8"


@pytest.mark.django_db(transaction=True)
def test_threads_of_test_get_connections_of_their_own():
    seen = []

    def ask():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            seen.append(cursor.fetchone()[0])
            barrier.wait(5)
        connection.close()

    barrier = threading.Barrier(8)
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 8


@pytest.mark.django_db(transaction=True)
def test_emptied_database_is_as_migrations_left_it():
    before = list(RetentionPolicy.objects.values()), list(MergeRule.objects.order_by("pk").values())
    assert all(before)
    RetentionPolicy.objects.all().delete()
    MergeRule.objects.update(updated_by="a test")
    key_create(name="app", scope=Scope("ana"), permission=Permission.READ, actor="test")
    empty_written(None)
    assert not ApiKey.objects.exists()
    assert (list(RetentionPolicy.objects.values()), list(MergeRule.objects.order_by("pk").values())) == before


@pytest.mark.django_db(transaction=True)
def test_rows_of_migrations_keep_their_numbers_when_a_test_counts_again():
    emptying.truncate(["rules_mergerule"], "RESTART IDENTITY")
    empty_written(None)
    before = set(MergeRule.objects.values_list("pk", flat=True))
    rule = MergeRule.objects.get(name="default")
    rule.pk, rule.name = None, "another"
    rule.save()
    assert rule.pk not in before


@pytest.mark.django_db(transaction=True)
def test_nothing_is_emptied_when_nothing_was_written(monkeypatch):
    monkeypatch.setattr(emptying, "truncate", lambda tables: pytest.fail(f"emptied {tables}"))
    empty_written(None)


def test_tests_use_data_directory_of_their_own_and_hashing_embedder():
    assert "memoryhub-tests-" in str(settings.MEMORYHUB.data_dir)
    assert settings.MEMORYHUB.embedding.embedder == "hashing"
