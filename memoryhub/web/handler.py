"""Synchronous Django under ASGI, with one thread hop per request, and the end of a web process."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from os import SEEK_END
from typing import IO, Any

from django.conf import settings
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.db import close_old_connections
from django.http import HttpResponse, JsonResponse
from django.http.response import HttpResponseBase

from apps.core.health import ALIVE
from apps.core.rest.errors import BodyTooLarge, overloaded, too_large
from apps.core.rest.middleware import count_request

MAX_WAITING = 64
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]
Application = Callable[[Any, Receive, Send], Awaitable[None]]


class ThreadedASGIHandler(ASGIHandler):
    """Runs the whole chain of middleware and the view in one of a fixed number of threads.

    The middleware and views are synchronous: Django's own handler would hop between the event loop and a thread
    for each of them, and use a new thread for every request, which would have to open a new database connection.
    Here each thread keeps its connection. While MAX_WAITING requests wait for a thread, others are refused. Some
    answers need no thread: /healthz, and refusals of overload and of large bodies.
    """

    def __init__(self) -> None:
        super().__init__()
        self._threads = ThreadPoolExecutor(settings.MEMORYHUB.web_threads, thread_name_prefix="request")
        self._running: set[Future[HttpResponseBase]] = set()

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def handle(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request, without a thread where that is possible."""
        answer = self.immediate_answer(scope)
        if answer is None:
            try:
                await super().handle(scope, receive, send)
            except BodyTooLarge:
                answer = too_large()
        if answer is not None:
            count_request(scope["method"], "healthz" if answer.status_code == 200 else "unknown", answer.status_code)
            await self.send_response(answer, send)

    def immediate_answer(self, scope: Mapping[str, Any]) -> HttpResponse | None:
        """Return the answer to a request that needs no thread; None for any other."""
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        if path == "/healthz" and scope["method"] in {"GET", "HEAD"}:
            return JsonResponse(ALIVE)
        if self.is_full():
            return overloaded()
        lengths = (value for name, value in scope["headers"] if name.lower() == b"content-length")
        declared = max((int(value) for value in lengths if value.isdigit()), default=0)
        return too_large() if declared > settings.DATA_UPLOAD_MAX_MEMORY_SIZE else None

    def is_full(self) -> bool:
        """Return whether MAX_WAITING requests wait for a thread."""
        return len(self._running) >= settings.MEMORYHUB.web_threads + MAX_WAITING

    async def read_body(self, receive: Receive) -> IO[bytes]:
        """Read the body into a temporary file. Raises BodyTooLarge before more than the limit is written there."""
        size = 0

        async def counted() -> Mapping[str, Any]:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
                raise BodyTooLarge
            return message

        body: IO[bytes] = await super().read_body(counted)
        return body

    def create_request(self, scope: Mapping[str, Any], body_file: IO[bytes]) -> tuple[Any, Any]:
        """Add the length of a body that was sent in chunks: Django and DRF ignore a body of unknown length."""
        names = {name.lower() for name, _ in scope["headers"]}
        if b"content-length" not in names:
            size = body_file.seek(0, SEEK_END)
            body_file.seek(0)
            scope = {**scope, "headers": [*scope["headers"], (b"content-length", str(size).encode())]}
        return super().create_request(scope, body_file)

    async def get_response_async(self, request: ASGIRequest) -> HttpResponseBase:  # type: ignore[override]
        if self.is_full():  # Others arrived while the body was read.
            return overloaded()
        future = self._threads.submit(copy_context().run, self._respond, request)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return await asyncio.wrap_future(future)

    def _respond(self, request: ASGIRequest) -> HttpResponseBase:
        # Django does this around a request too, but in another thread, where there is no connection.
        close_old_connections()
        try:
            return self.get_response(request)
        finally:
            close_old_connections()


class LifespanApplication:
    """An ASGI application, and a function that runs in a thread when the server ends (ASGI lifespan).

    Python's own exit handlers would not do: uvicorn ends by the signal that ended it, and then none is run.
    """

    def __init__(self, application: Application, on_shutdown: Callable[[], None]) -> None:
        self._application = application
        self._on_shutdown = on_shutdown

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request, or follow the lifespan of the server."""
        if scope["type"] != "lifespan":
            await self._application(scope, receive, send)
            return
        await receive()  # startup
        await send({"type": "lifespan.startup.complete"})
        await receive()  # shutdown
        await asyncio.to_thread(self._on_shutdown)
        await send({"type": "lifespan.shutdown.complete"})
