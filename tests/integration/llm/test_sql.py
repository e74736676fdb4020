import pytest
from django.db import DataError, connection, transaction

from apps.core.db.statements import Statement, run, run_groups
from apps.llm.models import Breaker

pytestmark = pytest.mark.django_db

INSERT = "INSERT INTO llm_breaker VALUES (%s, 'closed', now(), 0, '[]', 0, '[]', 0)"
COUNT = Statement("SELECT count(*) FROM llm_breaker")


def test_statements_go_together_and_each_has_its_result(django_assert_num_queries) -> None:
    with django_assert_num_queries(1):
        first, insert, count = run(Statement("SELECT %s::int, 'a;b'", [7]), Statement(INSERT, ["x;%s"]), COUNT)
    assert first.row == (7, "a;b")
    assert (insert.rows, insert.count) == ([], 1)
    assert count.rows == [(1,)]


def test_statement_without_rows_has_no_first_one() -> None:
    [result] = run(Statement("SELECT 1 WHERE false"))
    assert (result.row, result.rows, result.count) == (None, [], 0)


def test_nothing_costs_nothing(django_assert_num_queries) -> None:
    with django_assert_num_queries(0):
        assert run() == []
        assert run_groups({"empty": []}) == {"empty": []}


def test_groups_get_results_of_their_own_statements() -> None:
    found = run_groups({"a": [Statement("SELECT 1"), Statement("SELECT 2")], "none": [], "b": [Statement("SELECT 3")]})
    assert {name: [result.row for result in results] for name, results in found.items()} == {
        "a": [(1,), (2,)],
        "none": [],
        "b": [(3,)],
    }


def test_when_one_fails_none_has_happened() -> None:
    with pytest.raises(DataError), transaction.atomic():
        run(Statement(INSERT, ["x"]), Statement("SELECT 1 / %s", [0]))
    assert not Breaker.objects.exists()


def test_connection_that_binds_on_server_gets_them_one_at_time(monkeypatch, django_assert_num_queries) -> None:
    monkeypatch.setattr(connection.features, "uses_server_side_binding", True)
    with django_assert_num_queries(2):
        assert [result.row for result in run(Statement("SELECT 1"), COUNT)] == [(1,), (0,)]
