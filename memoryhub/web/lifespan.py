"""The end of a web process, of which the server tells its application (ASGI lifespan).

Python's own exit handlers would not do: uvicorn ends by the signal that it was told to end with, and then none is run.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class WithEnd:
    """An application, and what is done once it has answered for the last time, in a thread."""

    def __init__(self, application: Application, at_end: Callable[[], None]) -> None:
        self._application = application
        self._at_end = at_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or live through the life of the server."""
        if scope["type"] != "lifespan":
            await self._application(scope, receive, send)
            return
        await receive()  # that it starts
        await send({"type": "lifespan.startup.complete"})
        await receive()  # that it ends
        await asyncio.to_thread(self._at_end)
        await send({"type": "lifespan.shutdown.complete"})
