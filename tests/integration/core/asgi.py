"""The ASGI application, spoken to as a server does."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from memoryhub.web.handler import ThreadedASGIHandler

Receive = Callable[[], Awaitable[Any]]


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    json: Any


def body_of(chunks: Iterable[bytes]) -> Receive:
    """A body that comes in these parts, each made when it is asked for; then the client waits."""
    parts = iter(chunks)
    following = next(parts, None)

    async def receive() -> Any:
        nonlocal following
        if following is None:
            await asyncio.sleep(60)
        current, following = following, next(parts, None)
        return {"type": "http.request", "body": current, "more_body": following is not None}

    return receive


class Server:
    """An application of our own."""

    def __init__(self) -> None:
        self.application = ThreadedASGIHandler()

    async def ask(self, method: str, path: str, receive: Receive, **headers: str) -> Answer:
        """The answer to one request."""
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        given = {"host": "localhost", "content-type": "application/json", **headers}
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": path,
            "raw_path": path.encode(), "root_path": "", "scheme": "http", "query_string": b"",
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()],
            "client": ("127.0.0.1", 1), "server": ("localhost", 80),
        }  # fmt: skip
        await self.application(scope, receive, send)
        body = b"".join(message.get("body", b"") for message in sent[1:])
        answered = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], answered, json.loads(body))

    def close(self) -> None:
        """Close the connections that its threads have."""
        self.application.close()
