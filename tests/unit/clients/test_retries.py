"""What the client does when answers are lost, late or refused, before a real HTTP server that misbehaves."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from memoryhub_client import Client, HubFault, TryLater, Unreachable

DONE = (200, {}, {"action": "inserted"})
BUSY = (503, {"Retry-After": "0"}, {"errors": [{"code": "overloaded", "detail": "The hub is busy.", "attr": None}]})
FAULT = (500, {}, {"errors": [{"code": "error", "detail": "A fault of the hub.", "attr": None}]})
LOST: None = None
Answer = tuple[int, dict[str, str], Any] | None


@contextmanager
def hub_that_answers(*answers: Answer, delay: float = 0.0) -> Iterator[tuple[str, list[Any]]]:
    """Serve these answers in turn, the last one for ever; None closes the connection once the request was read."""
    received: list[Any] = []
    answers_late = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def handle_request(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            received.append(json.loads(body) if body else None)
            answer = answers[min(len(received), len(answers)) - 1]
            if answer is None or answers_late.wait(delay):
                self.close_connection = True
                return
            status, headers, content = answer
            text = json.dumps(content).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(text))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        def __getattr__(self, name: str) -> Any:
            if name.startswith("do_"):
                return self.handle_request
            raise AttributeError(name)

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", received
    finally:
        answers_late.set()  # whoever still waits hears nothing any more
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_save_is_repeated_after_a_lost_answer() -> None:
    with hub_that_answers(LOST, BUSY, DONE) as (url, received), Client(url, "mh_x") as hub:
        assert hub.save("Ana rows.")["action"] == "inserted"
    assert received == [{"content": "Ana rows."}] * 3


def test_an_event_and_an_entry_are_the_same_when_repeated() -> None:
    for send in (lambda hub: hub.record("message", "Ana rows."), lambda hub: hub.append_note("Ana rows.")):
        with hub_that_answers(LOST, DONE) as (url, received), Client(url, "mh_x") as hub:
            send(hub)
        assert received[0] == received[1]


def test_what_may_have_been_done_is_not_repeated_blindly() -> None:
    with hub_that_answers(LOST) as (url, received), Client(url, "mh_x") as hub:
        with pytest.raises(Unreachable, match="could not be reached"):
            hub.update("1", version="a", importance=0.5)
        assert len(received) == 1
        with pytest.raises(Unreachable):
            hub.update("1", importance=0.5)
        assert len(received) == 4


def test_a_memory_that_is_gone_at_the_second_try_is_forgotten() -> None:
    gone = (404, {}, {"errors": [{"code": "not_found", "detail": "No such memory.", "attr": None}]})
    with hub_that_answers(LOST, gone) as (url, _), Client(url, "mh_x") as hub:
        hub.forget("1")


def test_a_busy_hub_is_not_waited_for_too_long() -> None:
    for busy in (BUSY, (503, {"Retry-After": "60"}, BUSY[2])):
        with hub_that_answers(busy) as (url, received), Client(url, "mh_x") as hub:
            with pytest.raises(TryLater, match="The hub is busy") as refused:
                hub.search("tea")
            assert (len(received), refused.value.retry_after) == ((3, 0.0) if busy is BUSY else (1, 60.0))


def test_a_fault_is_not_repeated() -> None:
    with hub_that_answers(FAULT) as (url, received), Client(url, "mh_x") as hub:
        with pytest.raises(HubFault):
            hub.search("tea")
        assert len(received) == 1


def test_a_late_answer_ends_the_wait() -> None:
    with hub_that_answers(DONE, delay=30) as (url, _), Client(url, "mh_x", timeout=0.05, retries=0) as hub:
        began = time.monotonic()
        with pytest.raises(Unreachable, match="in time"):
            hub.search("tea")
        assert time.monotonic() - began < 5


def test_a_hub_that_is_down_is_said_without_the_key() -> None:
    with Client("http://127.0.0.1:9", "mh_secret", retries=0) as hub, pytest.raises(Unreachable) as raised:
        hub.search("tea")
    assert "mh_secret" not in str(raised.value)
