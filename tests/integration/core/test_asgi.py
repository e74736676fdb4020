"""The ASGI application with everything behind it."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from apps.core.domain.scope import Scope
from tests.api import MEMORIES, api_for
from tests.integration.core.asgi import Server, body_of

pytestmark = pytest.mark.django_db(transaction=True)

BODY = json.dumps({"content": "green tea"}).encode()


class KnownServer(Server):
    """One for which there is a key."""

    def __init__(self) -> None:
        super().__init__()
        self.key = str(api_for(Scope(user_id="ana")).key)

    def send(self, method: str, path: str, chunks: list[bytes], **headers: str) -> tuple[int, Any]:
        """The status and the JSON of the answer to a request whose body comes in these parts."""
        answer = asyncio.run(self.ask(method, path, body_of(chunks), **headers))
        return answer.status, answer.json


@pytest.fixture
def server() -> Iterator[KnownServer]:
    server = KnownServer()
    yield server
    server.close()


def test_a_body_of_known_length_is_read(server: KnownServer) -> None:
    headers = {"authorization": f"Bearer {server.key}", "content_length": str(len(BODY))}
    assert server.send("POST", MEMORIES, [BODY], **headers)[0] == 201


def test_a_body_in_chunks_is_read_whole(server: KnownServer) -> None:
    headers = {"authorization": f"Bearer {server.key}", "transfer_encoding": "chunked"}
    status, answer = server.send("POST", MEMORIES, [BODY[:7], BODY[7:12], BODY[12:]], **headers)
    assert (status, answer["memory"]["content"]) == (201, "green tea")


def test_a_request_without_a_body_is_answered(server: KnownServer) -> None:
    assert server.send("GET", MEMORIES, [b""], authorization=f"Bearer {server.key}")[0] == 200


def test_key_that_is_not_ascii_is_refused_like_any_wrong_one(server: KnownServer) -> None:
    wrong = server.send("GET", MEMORIES, [b""], authorization="Bearer ключ" + "x" * 40)
    assert wrong == server.send("GET", MEMORIES, [b""], authorization="Bearer mh_" + "x" * 40)
    assert wrong[0] == 401
