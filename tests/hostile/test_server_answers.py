"""What the server answers before an operation is known to it: each is in the OpenAPI document of that operation."""

from collections.abc import Iterator

import pytest

from tests.document import document
from tests.integration.memoryhub.web import WebServer, head_of, serving

pytestmark = pytest.mark.django_db(transaction=True)

OPERATIONS = [
    ("GET", "/api/keys"),
    ("POST", "/api/semantic/search"),
    ("PUT", "/api/memory/main"),
    ("POST", "/api/connect"),
]


@pytest.fixture(scope="module")
def server(django_db_setup: None) -> Iterator[WebServer]:
    with serving() as server:
        yield server


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_a_head_that_is_too_long_is_documented(server: WebServer, method: str, path: str) -> None:
    head = head_of(method, path, connection="close")[:-2]
    answer = server.send(f"{head}X-Large: {'x' * 70_000}")
    assert (answer.status, answer.body) == (431, b"")
    assert "content" not in document()["paths"][path][method.lower()]["responses"]["431"]


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_a_body_that_is_too_large_is_documented(server: WebServer, method: str, path: str) -> None:
    answer = server.send(head_of(method, path, connection="close", content_length=str(10**10)))
    assert answer.status == 413
    assert b'"too_large"' in answer.body
    assert "413" in document()["paths"][path][method.lower()]["responses"]
