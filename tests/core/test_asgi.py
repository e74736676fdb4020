"""The ASGI application, spoken to as a server does."""

import asyncio
import json
from typing import Any

import pytest
from django.db import connections

from apps.core.domain.scope import Scope
from apps.core.rest.asgi import ThreadedASGIHandler
from apps.semantic.models import Memory
from tests.api import MEMORIES, api_for

pytestmark = pytest.mark.django_db(transaction=True)

BODY = json.dumps({"content": "green tea"}).encode()


class Server:
    """Sends one request after the other, and closes the application's connections in the end."""

    def __init__(self) -> None:
        self.application = ThreadedASGIHandler()
        self.key = str(api_for(Scope(user_id="ana")).key)

    def send(self, method: str, path: str, chunks: list[bytes], **headers: str) -> tuple[int, Any]:
        """The status and the JSON of the answer to a request whose body comes in these parts."""
        sent: list[Any] = []
        parts = [
            {"type": "http.request", "body": chunk, "more_body": number < len(chunks)}
            for number, chunk in enumerate(chunks, 1)
        ]

        async def receive() -> Any:
            if not parts:
                await asyncio.sleep(60)
            return parts.pop(0)

        async def send(message: Any) -> None:
            sent.append(message)

        given = {"host": "localhost", "content-type": "application/json", **headers}
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": path,
            "raw_path": path.encode(), "root_path": "", "scheme": "http", "query_string": b"",
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()],
            "client": ("127.0.0.1", 1), "server": ("localhost", 80),
        }  # fmt: skip
        asyncio.run(self.application(scope, receive, send))
        return sent[0]["status"], json.loads(b"".join(message.get("body", b"") for message in sent[1:]))

    def close(self) -> None:
        threads = self.application._threads
        for future in [threads.submit(connections.close_all) for _ in range(threads._max_workers)]:
            future.result()
        threads.shutdown()


@pytest.fixture
def server() -> Any:
    server = Server()
    yield server
    server.close()


def test_a_body_of_known_length_is_read(server: Server) -> None:
    headers = {"authorization": f"Bearer {server.key}", "content_length": str(len(BODY))}
    assert server.send("POST", MEMORIES, [BODY], **headers)[0] == 201


def test_a_body_in_chunks_is_read_whole(server: Server) -> None:
    headers = {"authorization": f"Bearer {server.key}", "transfer_encoding": "chunked"}
    status, answer = server.send("POST", MEMORIES, [BODY[:7], BODY[7:12], BODY[12:]], **headers)
    assert (status, answer["memory"]["content"]) == (201, "green tea")


def test_a_body_in_chunks_beyond_the_limit_is_refused(server: Server, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 20
    headers = {"authorization": f"Bearer {server.key}", "transfer_encoding": "chunked"}
    status, answer = server.send("POST", MEMORIES, [BODY[:7], BODY[7:]], **headers)
    assert status == 400
    assert "too large" in answer["errors"][0]["detail"]
    assert Memory.objects.count() == 0


def test_a_request_without_a_body_is_answered(server: Server) -> None:
    assert server.send("GET", "/healthz", [b""]) == (200, {"status": "ok"})


def test_a_key_that_is_not_ascii_is_refused_like_any_wrong_one(server: Server) -> None:
    wrong = server.send("GET", MEMORIES, [b""], authorization="Bearer ключ" + "x" * 40)
    assert wrong == server.send("GET", MEMORIES, [b""], authorization="Bearer mh_" + "x" * 40)
    assert wrong[0] == 401
