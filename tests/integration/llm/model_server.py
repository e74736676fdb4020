"""A real HTTP server that stands in for an OpenAI-compatible one."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, bytes]
DIMENSION = 4


def vector_of(text: str) -> list[float]:
    """Not of length 1, and different for every text of these tests."""
    return [float(len(text) + 1), 1.0, 2.0 * text.count("a"), -3.0]


def embeddings(inputs: list[str]) -> dict[str, Any]:
    """A right answer."""
    data = [{"object": "embedding", "index": index, "embedding": vector_of(text)} for index, text in enumerate(inputs)]
    return {"object": "list", "model": "m", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def ok(body: Any) -> Answer:
    return 200, json.dumps(body).encode()


@dataclass
class ModelServer:
    """`answers` are given in turn, the last one again and again; without any, the server answers rightly."""

    url: str
    answers: list[Callable[[dict[str, Any]], Answer]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def answer(self, body: dict[str, Any]) -> Answer:
        if not self.answers:
            return ok(embeddings(body["input"]))
        respond = self.answers[0] if len(self.answers) == 1 else self.answers.pop(0)
        return respond(body)

    def stall(self, seconds: float) -> None:
        def respond(body: dict[str, Any]) -> Answer:
            time.sleep(seconds)
            return ok(embeddings(body["input"]))

        self.answers.append(respond)

    def fail(self, status: int, times: int = 1) -> None:
        quoted = {"error": {"message": "bad key sk-secret for text 'my diary'", "type": "x"}}
        self.answers += [lambda _: (status, json.dumps(quoted).encode())] * times

    def say(self, body: Any) -> None:
        self.answers.append(lambda _: (200, body) if isinstance(body, bytes) else ok(body))

    def work(self) -> None:
        self.answers.append(lambda body: ok(embeddings(body["input"])))


@contextmanager
def running_server() -> Iterator[ModelServer]:
    http = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server = ModelServer(f"http://127.0.0.1:{http.server_port}/v1")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.requests.append(body | {"path": self.path})
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            status, content = server.answer(body)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Say nothing in the test's output."""

        def handle(self) -> None:
            try:
                super().handle()
            except ConnectionError:
                return  # the client gave up waiting, as it should

    http.RequestHandlerClass = Handler
    thread = threading.Thread(target=http.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
