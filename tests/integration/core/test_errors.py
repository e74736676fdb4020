"""One error shape everywhere: DESIGN D12."""

import logging
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client

from apps.core.domain import errors
from apps.core.domain.scope import Scope
from tests.api import MEMORIES, Api, api_for

pytestmark = pytest.mark.django_db

ADDRESS = f"{MEMORIES}/00000000-0000-4000-8000-000000000000"


@pytest.fixture
def api() -> Api:
    api = api_for(Scope())
    api.client.raise_request_exception = False
    return api


def failing_with(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*args: object) -> None:
        raise error

    monkeypatch.setattr("apps.semantic.selectors.memory_get", fail)


@pytest.mark.parametrize(
    ("error", "status", "kind", "item"),
    [
        (errors.NotFoundError("Gone."), 404, "client_error", ("not_found", "Gone.", None)),
        (errors.ForbiddenError("No.", attr="user_id"), 403, "client_error", ("permission_denied", "No.", "user_id")),
        (errors.InvalidInputError("Bad.", attr="x"), 400, "validation_error", ("invalid", "Bad.", "x")),
        (errors.InvalidInputError("Bad.", code="odd"), 400, "validation_error", ("odd", "Bad.", None)),
        (errors.ConflictError("Late.", code="too_late"), 409, "client_error", ("too_late", "Late.", None)),
        (errors.UnavailableError("Wait."), 503, "server_error", ("unavailable", "Wait.", None)),
    ],
)
def test_error_of_domain_has_its_status_and_shape(
    api: Api, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, kind: str, item: tuple[Any, ...]
) -> None:
    failing_with(monkeypatch, error)
    response = api.get(ADDRESS)
    assert response.status_code == status
    assert response.json() == {"type": kind, "errors": [dict(zip(("code", "detail", "attr"), item, strict=True))]}


def test_an_overload_says_when_to_try_again(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    failing_with(monkeypatch, errors.UnavailableError("Wait.", retry_after=17))
    assert api.get(ADDRESS)["Retry-After"] == "17"


@pytest.mark.parametrize("error", [OperationalError("password=secret"), InterfaceError("password=secret")])
def test_database_that_is_away_is_503_without_details(
    api: Api, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    failing_with(monkeypatch, error)
    response = api.get(ADDRESS)
    assert (response.status_code, response["Retry-After"]) == (503, "2")
    assert response.json()["type"] == "server_error"
    assert "secret" not in response.content.decode()


@pytest.mark.parametrize("error", [OperationalError("password=secret"), errors.UnavailableError("Wait.")])
def test_what_is_unavailable_is_one_warning_in_log(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    failing_with(monkeypatch, error)
    api.get(ADDRESS)
    assert [(record.levelname, record.exc_info) for record in caplog.records] == [("WARNING", None)]
    assert "secret" not in caplog.text


def test_without_database_status_still_answers(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*args: object) -> None:
        raise OperationalError("password=secret")

    monkeypatch.setattr("apps.core.rest.authentication.key_verify", away)
    response = api.get("/api/semantic/status")
    assert (response.status_code, response.json()["status"]) == (503, "unhealthy")
    assert "secret" not in response.content.decode()


def test_mistake_of_ours_is_500_in_shape_without_details(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    failing_with(monkeypatch, RuntimeError("secret"))
    response = api.get(ADDRESS)
    assert response.status_code == 500
    assert response.json()["type"] == "server_error"
    assert "secret" not in response.content.decode()


def test_several_mistakes_are_named_together(api: Api) -> None:
    response = api.post(MEMORIES, {"content": "", "importance": 2, "keywords": [1]})
    assert {error["attr"] for error in response.json()["errors"]} == {"content", "importance", "keywords.0"}


def test_missing_key_and_wrong_one_ask_for_bearer_token() -> None:
    for api in (Api(), Api("mh_" + "x" * 40)):
        response = api.get(MEMORIES)
        assert response.status_code == 401
        assert response["WWW-Authenticate"] == 'Bearer realm="MemoryHub"'
        assert response.json()["type"] == "client_error"


def test_unknown_address_under_api_answers_in_shape_and_elsewhere_as_page() -> None:
    assert Client().get("/api/nothing").json()["errors"][0]["code"] == "not_found"
    assert "html" in Client().get("/nothing")["Content-Type"]


def test_host_that_is_not_ours_is_refused_in_shape() -> None:
    response = Client(SERVER_NAME="evil.example.org").get(MEMORIES)
    assert response.status_code == 400
    assert set(response.json()) == {"type", "errors"}


def test_every_error_of_the_domain_has_a_status() -> None:
    from apps.core.schemas.errors import status_of

    kinds = errors.MemoryHubError.__subclasses__()
    assert len(kinds) == 7
    assert {status_of(kind("x")) for kind in kinds} == {400, 403, 404, 409, 412, 422, 503}


@pytest.mark.parametrize("path", [MEMORIES, "/api/docs", "/api/schema", "/api/nothing", "/admin/login/", "/metrics"])
def test_query_string_of_too_many_parameters_is_refused_and_no_error_of_ours(
    api: Api, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    for caller in (api, Api()):
        response = caller.get(f"{path}?{'&'.join(f'x{number}=1' for number in range(1_001))}")
        assert response.status_code == 400
        if path.startswith("/api/"):
            assert "at most 1000" in response.json()["errors"][0]["detail"]
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
