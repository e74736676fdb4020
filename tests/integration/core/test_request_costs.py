"""What every request passes costs as little as it can, and says the same."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.http import HttpResponse, JsonResponse
from django.test import Client, RequestFactory
from psycopg import Connection

from apps.core.db.backend import base
from apps.core.db.prepared import read_prepared
from apps.core.domain.scope import Scope
from apps.core.rest.middleware import POLICY_HEADER, ContentPolicyMiddleware, CSPMiddleware
from memoryhub.web.routes import match_of
from tests.api import MEMORIES, api_for

pytestmark = pytest.mark.django_db(transaction=True)


def answer_twice(**of_response: Any) -> list[str]:
    """The policies of an answer as django-csp makes it, and as the hub does."""
    policies = []
    for kind in (CSPMiddleware, ContentPolicyMiddleware):
        request, response = RequestFactory().get("/api/"), JsonResponse({})
        vars(response).update(of_response)
        middleware = kind(lambda _: HttpResponse())
        middleware.process_request(request)
        policies.append(middleware.process_response(request, response)[POLICY_HEADER])
    return policies


@pytest.mark.parametrize("of_response", [{}, {"_csp_update": {"img-src": ["https://example.org"]}}])
def test_the_policy_of_an_answer_is_that_of_django_csp(of_response: dict[str, Any]) -> None:
    theirs, ours = answer_twice(**of_response)
    assert sorted(ours.split("; ")) == sorted(theirs.split("; "))
    assert "frame-ancestors 'none'" in ours


def test_json_and_pages_have_the_policy() -> None:
    client = Client()
    for path in ("/api/", "/healthz", "/api/nothing", "/admin/login/"):
        assert "default-src 'none'" in client.get(path).headers[POLICY_HEADER]


@pytest.mark.parametrize(
    ("accept", "status", "kind"),
    [
        ("*/*", 200, "application/json"),
        ("application/json", 200, "application/json"),
        ("text/html, application/*;q=0.5", 200, "application/json"),
        ("text/html", 406, "application/json"),
    ],
)
def test_a_client_gets_what_it_accepts(accept: str, status: int, kind: str) -> None:
    headers = {"Authorization": f"Bearer {api_for(Scope()).key}", "Accept": accept}
    answer = Client().get(MEMORIES, headers=headers)
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, kind)


def test_routes_are_remembered_each_with_its_own_parts(settings: Any) -> None:
    one, two = (f"{MEMORIES}/{uuid4()}" for _ in range(2))
    assert match_of(MEMORIES) is match_of(MEMORIES)
    assert match_of(one).kwargs != match_of(two).kwargs  # type: ignore[union-attr]
    assert match_of("/api/nothing") is None
    settings.ROOT_URLCONF = "apps.people.rest.urls"
    assert match_of(MEMORIES) is None


class Statements:
    """What was sent to ask whether a connection works."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        ask = base.base.DatabaseWrapper.is_usable

        def count(wrapper: Any) -> bool:
            self.count += 1
            return ask(wrapper)

        monkeypatch.setattr(base.base.DatabaseWrapper, "is_usable", count)


def ask_again() -> None:
    connections[DEFAULT_DB_ALIAS]._healthy_until = 0.0


def read() -> list[Any]:
    """Read as a request does: with its own check of the connection."""
    connection.close_if_unusable_or_obsolete()
    connection.health_check_done = False
    return read_prepared("SELECT pg_backend_pid()", {})


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> Statements:
    connection.ensure_connection()
    monkeypatch.setattr(connections[DEFAULT_DB_ALIAS], "health_check_enabled", True)
    ask_again()
    return Statements(monkeypatch)


def test_a_connection_is_not_asked_in_each_request(checked: Statements) -> None:
    assert len({str(read()) for _ in range(20)}) == 1
    assert checked.count == 1
    ask_again()
    read()
    assert checked.count == 2


def test_a_connection_that_the_server_ended_is_replaced_at_once(checked: Statements) -> None:
    [(first,)] = read()
    parameters = connection.get_connection_params()
    known = {name: value for name, value in parameters.items() if name not in {"cursor_factory", "context"}}
    with Connection.connect(**known, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 10000)", [first])
    [(second,)] = read()
    assert second != first


@pytest.mark.parametrize("value", ["{}", '{"a": ["ü", 1.5, null]}', "[]", '"text"', "null", "12"])
def test_json_is_read_as_it_is(value: str) -> None:
    [(read_value, text)] = read_prepared("SELECT %(value)s::jsonb, (%(value)s::jsonb)::text", {"value": value})
    assert read_value == base.json.loads(text)
