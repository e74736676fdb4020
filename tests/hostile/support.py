"""What the hostile tests compare: all that is stored, and the shape of a refusal."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.apps import apps
from django.db import connection
from django.http import HttpResponse

# A key notes when it was last used, which is no change of anything that it could not write.
VOLATILE = {"core_apikey": "last_used_at"}
# How often models asked for tools is counted, whatever a key may do.
COUNTS = {"llm_tooloutputday", "llm_toolrunday"}


def stored() -> dict[str, list[Any]]:
    """Every row of every table of ours and of the task queue, asked for in one statement."""
    found: dict[str, list[Any]] = {table: [] for table in _tables()}
    rows = (f"SELECT '{one}' AS name, to_jsonb(t) - '{VOLATILE.get(one, '')}' AS row FROM \"{one}\" t" for one in found)
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(rows) + " ORDER BY name, row")
        for table, row in cursor.fetchall():
            found[table].append(row)
    return found


def _tables() -> list[str]:
    return [
        model._meta.db_table
        for model in apps.get_models(include_auto_created=True)
        if model._meta.app_label
        in {"core", "episodic", "events", "llm", "rules", "semantic", "store", "sync", "django_q"}
        and model._meta.db_table not in COUNTS
    ]


@contextmanager
def in_case(name: object) -> Iterator[None]:
    """Have a failure say in which case of a loop it is."""
    try:
        yield
    except AssertionError as error:
        error.add_note(f"in the case: {name}")
        raise


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
