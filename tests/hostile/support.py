"""What the hostile tests compare: all that is stored, and the shape of a refusal."""

from typing import Any

from django.apps import apps
from django.db import connection
from django.http import HttpResponse

# A key notes when it was last used, which is no change of anything that it could not write.
VOLATILE = {"core_apikey": "last_used_at"}
# How often models asked for tools is counted, whatever a key may do.
COUNTS = {"llm_tooloutputday", "llm_toolrunday"}


def stored() -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table of ours and of the task queue."""
    tables = [
        model._meta.db_table
        for model in apps.get_models(include_auto_created=True)
        if model._meta.app_label in {"core", "episodic", "events", "llm", "rules", "semantic", "sync", "django_q"}
    ]
    return {table: _rows(table) for table in tables if table not in COUNTS}


def _rows(table: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT to_jsonb(t) - %s FROM "{table}" t ORDER BY 1', [VOLATILE.get(table, "")])
        return list(cursor.fetchall())


def assert_refused(response: HttpResponse, status: int, attr: str | None) -> None:
    """The one error shape, with the field at fault named."""
    assert response.status_code == status, response.content[:500]
    assert len(response.content) < 5_000
    body = response.json()
    assert set(body) == {"type", "errors"}
    assert body["type"] == ("validation_error" if status == 400 and attr is not None else body["type"])
    assert body["type"] in {"validation_error", "client_error"}
    assert body["errors"]
    for error in body["errors"]:
        assert set(error) == {"code", "detail", "attr"}
        assert error["detail"]
        assert error["code"]
    assert attr in [error["attr"] for error in body["errors"]], body


def same(one: HttpResponse, other: HttpResponse) -> bool:
    """Whether two answers cannot be told apart."""
    return (one.status_code, one.content, dict(one.headers)) == (other.status_code, other.content, dict(other.headers))
