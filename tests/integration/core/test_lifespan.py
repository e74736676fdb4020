"""What a web process does when its server tells it to end."""

import asyncio
from typing import Any

from memoryhub.web.gateway import Gateway

REQUEST = {"type": "http", "path": "/", "headers": []}


async def answering(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "answer", "to": scope["path"]})


def live(application: Gateway, scope: dict[str, Any], *told: str) -> list[dict[str, Any]]:
    """What the application says when it is told these things."""
    said: list[dict[str, Any]] = []
    messages = iter(told)

    async def receive() -> dict[str, Any]:
        return {"type": next(messages)}

    async def send(message: Any) -> None:
        said.append(message)

    asyncio.run(application(scope, receive, send))
    return said


def test_it_is_done_before_server_is_told_that_all_is_over() -> None:
    done: list[str] = []
    said = live(Gateway(answering, lambda: done.append("done")), {"type": "lifespan"}, "startup", "shutdown")
    assert [message["type"] for message in said] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert done == ["done"]


def test_requests_are_passed_on() -> None:
    done: list[str] = []
    assert live(Gateway(answering, lambda: done.append("done")), REQUEST) == [{"type": "answer", "to": "/"}]
    assert done == []
