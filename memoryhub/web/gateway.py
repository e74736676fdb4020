"""The outermost ASGI application: requests by protocol, their ids, and the end of a web process."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from apps.core.request_id import HEADER, begin_request

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]
Application = Callable[[Any, Receive, Send], Awaitable[None]]


async def refuse_websocket(_scope: Any, receive: Receive, send: Send) -> None:
    """Close a WebSocket before it is opened, which the client sees as 403: there is none at any address."""
    await receive()
    await send({"type": "websocket.close", "code": 1008})


class Gateway:
    """The application that a server runs.

    http, websocket: the applications of each protocol. on_startup: runs in the event loop before the first request.
    on_shutdown: runs in a thread when the server ends. Python's own exit handlers would not do: uvicorn ends by the
    signal that ended it, and then none is run.
    """

    def __init__(
        self,
        http: Application,
        on_shutdown: Callable[[], None],
        websocket: Application = refuse_websocket,
        on_startup: Callable[[], None] = lambda: None,
    ) -> None:
        self._applications = {"http": http, "websocket": websocket}
        self._on_startup, self._on_shutdown = on_startup, on_shutdown

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request with its id, or follow the lifespan of the server."""
        if scope["type"] == "lifespan":
            await self._follow_lifespan(scope, receive, send)
            return
        header = (HEADER.lower().encode(), begin_request(scope["headers"]).encode())

        async def send_with_id(message: Mapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), header]}
            await send(message)

        await self._applications[scope["type"]](scope, receive, send_with_id)

    async def _follow_lifespan(self, _scope: Any, receive: Receive, send: Send) -> None:
        await receive()  # startup
        self._on_startup()
        await send({"type": "lifespan.startup.complete"})
        await receive()  # shutdown
        await asyncio.to_thread(self._on_shutdown)
        await send({"type": "lifespan.shutdown.complete"})
