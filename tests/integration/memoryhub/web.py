"""A real server for tests: the one that `up` starts, in a thread of this process."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import uvicorn
from django.conf import settings

from memoryhub.web.gateway import Gateway
from memoryhub.web.handler import ThreadedASGIHandler
from memoryhub.web.server import server_config

PATIENCE = 30


@dataclass(frozen=True)
class Reply:
    """An answer as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class WebServer:
    """Where it listens, and the handler behind it."""

    port: int
    handler: ThreadedASGIHandler

    def send(self, request: str | bytes) -> Reply:
        """Send bytes over a new connection, and return the answer to them."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(request if isinstance(request, bytes) else request.encode())
            return read_reply(connection)

    def get(self, path: str, **headers: str) -> Reply:
        return self.send(head_of("GET", path, connection="close", **headers))


def head_of(method: str, path: str, **headers: str) -> str:
    """The head of a request; underscores in names are hyphens."""
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in {"host": "localhost", **headers}.items()]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""])


def read_reply(connection: socket.socket) -> Reply:
    """Read until the end of the answer: as long as it says, or until the connection is closed."""
    received = b""
    while b"\r\n\r\n" not in received:
        part = connection.recv(65_536)
        assert part, f"cut off after {received[:200]!r}"
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    length = int(headers.get("content-length", -1))
    while length < 0 or len(body) < length:
        if not (part := connection.recv(65_536)):
            break
        body += part
    return Reply(int(status.split()[1]), headers, body)


@contextmanager
def serving(make: Callable[[ThreadedASGIHandler], Gateway] | None = None, **changes: Any) -> Iterator[WebServer]:
    """Serve with the settings of the tests and these changes of them. make: the application around the handler."""
    config = replace(settings.MEMORYHUB, host="127.0.0.1", port=0, **changes)
    handler = ThreadedASGIHandler()
    server = uvicorn.Server(server_config(config, make(handler) if make else Gateway(handler, lambda: None)))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield WebServer(server.servers[0].sockets[0].getsockname()[1], handler)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        handler.close()
