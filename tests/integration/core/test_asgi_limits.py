"""What the ASGI application refuses before it costs a thread or a disk."""

import asyncio
import http.client
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import uvicorn
from django.http import JsonResponse

from memoryhub.web import queue
from memoryhub.web.protocol import HubProtocol
from tests.api import MEMORIES
from tests.integration.core.asgi import Answer, Server, body_of

LIMIT = 1_000
WAITING = 3
WAIT_SECONDS = 30


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server of one thread, with small limits."""
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = LIMIT
    settings.MEMORYHUB = replace(settings.MEMORYHUB, web_threads=1, web_wait_seconds=WAIT_SECONDS)
    monkeypatch.setattr(queue, "MAX_WAITING", WAITING)
    server = Server()
    yield server
    server.close()


class Gate:
    """Lets no answer out until it is opened."""

    def __init__(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened = threading.Event()
        self.answered = 0
        monkeypatch.setattr(server.application, "get_response", self._answer)

    def _answer(self, request: object) -> JsonResponse:
        assert self.opened.wait(30)
        self.answered += 1
        return JsonResponse({})


@pytest.fixture
def gate(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate = Gate(server, monkeypatch)
    yield gate
    gate.opened.set()


def assert_too_large(answer: Answer) -> None:
    assert (answer.status, answer.headers["connection"]) == (413, "close")
    assert answer.json["type"] == "client_error"
    assert answer.json["errors"] == [
        {
            "code": "too_large",
            "detail": f"The request body is too large: at most {LIMIT} bytes at this address.",
            "attr": None,
        }
    ]


# --- large bodies -------------------------------------------------------------------------------------


def test_body_that_says_it_is_too_large_is_refused_unread(server: Server) -> None:
    async def receive() -> Any:
        pytest.fail("the body was read")

    assert_too_large(asyncio.run(server.ask("POST", "/nothing", receive, content_length=str(LIMIT + 1))))


def test_body_in_chunks_is_read_to_limit_and_no_further(server: Server) -> None:
    read = 0

    def chunks() -> Iterator[bytes]:
        nonlocal read
        while True:
            read += 100
            yield b"x" * 100

    assert_too_large(asyncio.run(server.ask("POST", MEMORIES, body_of(chunks()), transfer_encoding="chunked")))
    assert read <= LIMIT + 300


def test_body_that_is_larger_than_it_says_is_refused(server: Server) -> None:
    chunks = [b"x" * LIMIT, b"x"]
    assert_too_large(asyncio.run(server.ask("POST", "/nothing", body_of(chunks), content_length="5")))


def test_a_body_of_the_largest_size_is_read(server: Server) -> None:
    answer = asyncio.run(server.ask("POST", "/api/nothing", body_of([b"x" * LIMIT]), content_length=str(LIMIT)))
    assert answer.status == 404


# --- overload -----------------------------------------------------------------------------------------


def occupied(server: Server) -> int:
    """How many requests have a thread or wait for one."""
    return server.application.queue.running + server.application.queue.waiting


async def crowd(server: Server, count: int) -> list[asyncio.Task[Answer]]:
    """Requests that have all come as far as they can."""
    tasks = [asyncio.create_task(server.ask("GET", "/", body_of([b""]))) for _ in range(count)]
    while sum(task.done() for task in tasks) + occupied(server) < count:
        await asyncio.sleep(0.01)
    return tasks


def test_more_requests_than_may_wait_are_refused_and_others_answered(server: Server, gate: Gate) -> None:
    async def scene() -> list[Answer]:
        accepted = await crowd(server, 1 + WAITING)
        refused = [await server.ask("POST", "/", body_of([b"x"])) for _ in range(3)]
        assert gate.answered == 0
        gate.opened.set()
        assert [answer.status for answer in await asyncio.gather(*accepted)] == [200] * (1 + WAITING)
        assert (await server.ask("GET", "/", body_of([b""]))).status == 200
        return refused

    for answer in asyncio.run(scene()):
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert answer.json["type"] == "server_error"
        assert answer.json["errors"][0]["code"] == "overloaded"


def test_those_who_come_at_once_are_refused_too(server: Server, gate: Gate) -> None:
    async def scene() -> list[int]:
        tasks = await crowd(server, 1 + WAITING + 5)
        gate.opened.set()
        return sorted(answer.status for answer in await asyncio.gather(*tasks))

    assert asyncio.run(scene()) == [200] * (1 + WAITING) + [503] * 5


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_busy_process_still_says_that_it_lives(server: Server, gate: Gate, method: str) -> None:
    async def scene() -> Answer:
        tasks = await crowd(server, 1 + WAITING + 1)
        answer = await server.ask(method, "/healthz", body_of([b""]))
        assert gate.answered == 0
        gate.opened.set()
        await asyncio.gather(*tasks)
        return answer

    answer = asyncio.run(scene())
    assert (answer.status, answer.json) == (200, {"status": "ok"})


def test_a_client_that_goes_away_leaves_its_place(server: Server, gate: Gate) -> None:
    async def leave() -> Any:
        if not left:
            left.append(True)
            return {"type": "http.request", "body": b"", "more_body": False}
        await asyncio.sleep(0.05)
        return {"type": "http.disconnect"}

    left: list[bool] = []

    async def scene() -> int:
        tasks = await crowd(server, WAITING)
        with pytest.raises(IndexError):  # There is no answer.
            await server.ask("GET", "/", leave)
        assert occupied(server) == WAITING
        gate.opened.set()
        await asyncio.gather(*tasks)
        return gate.answered

    assert asyncio.run(scene()) == WAITING


# --- a real server ------------------------------------------------------------------------------------


@pytest.fixture
def port(server: Server) -> Iterator[int]:
    config = uvicorn.Config(server.application, http=HubProtocol, port=0, lifespan="off", log_level="warning")
    web = uvicorn.Server(config)
    thread = threading.Thread(target=web.run)
    thread.start()
    while not web.started:
        time.sleep(0.01)
    yield web.servers[0].sockets[0].getsockname()[1]
    web.should_exit = True
    thread.join(30)


def test_over_http_large_body_is_refused_and_connection_closed(port: int) -> None:
    for headers, body in (({"Content-Length": str(10**9)}, None), ({}, iter([b"x" * 600, b"x" * 600]))):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("POST", MEMORIES, body, headers, encode_chunked=body is not None)
        response = connection.getresponse()
        assert (response.status, response.getheader("Connection")) == (413, "close")
        assert b"too_large" in response.read()
        connection.close()


def test_over_http_full_house_says_so_and_stays_alive(port: int, server: Server, gate: Gate) -> None:
    def get(path: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", path)
        statuses.append(connection.getresponse().status)
        connection.close()
        return statuses[-1]

    statuses: list[int] = []
    others = [threading.Thread(target=get, args=["/"]) for _ in range(1 + WAITING)]
    for other in others:
        other.start()
    while occupied(server) < len(others):
        time.sleep(0.01)
    assert [get("/"), get("/healthz")] == [503, 200]
    gate.opened.set()
    for other in others:
        other.join(30)
    assert sorted(statuses) == [200] * (2 + WAITING) + [503]
