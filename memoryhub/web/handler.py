"""Serving synchronous Django under ASGI with one thread hop per request."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
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


class ThreadedASGIHandler(ASGIHandler):
    """Runs the whole chain of middleware and the view in one of a fixed number of threads.

    Our middleware and views are synchronous: Django's own handler would hop between the event loop and a thread
    for each of them, and give every request a new thread, which would have to connect to the database anew.
    Here each thread keeps its connection. While MAX_WAITING requests wait for a thread, others are refused. What
    needs no thread gets none: the question whether this process lives, and refusals of overload and of large bodies.
    """

    def __init__(self) -> None:
        super().__init__()
        self._threads = ThreadPoolExecutor(settings.MEMORYHUB.web_threads, thread_name_prefix="request")
        self._in_hand: set[Future[HttpResponseBase]] = set()

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def handle(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request, on the event loop alone where that is enough."""
        if answer := self._answer_at_once(scope):
            await self._send_at_once(answer, scope, send)
            return
        try:
            await super().handle(scope, receive, send)
        except BodyTooLarge:
            await self._send_at_once(too_large(), scope, send)

    def _answer_at_once(self, scope: Mapping[str, Any]) -> HttpResponse | None:
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        if path == "/healthz" and scope["method"] in {"GET", "HEAD"}:
            return JsonResponse(ALIVE)
        if self._is_full():
            return overloaded()
        return too_large() if _declared_length(scope) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE else None

    async def _send_at_once(self, answer: HttpResponse, scope: Mapping[str, Any], send: Send) -> None:
        count_request(scope["method"], "healthz" if answer.status_code == 200 else "unknown", answer.status_code)
        await self.send_response(answer, send)

    def _is_full(self) -> bool:
        return len(self._in_hand) >= settings.MEMORYHUB.web_threads + MAX_WAITING

    async def read_body(self, receive: Receive) -> IO[bytes]:
        """The body in a temporary file. Raises BodyTooLarge before more than the limit is written there."""
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
        """Say how long a body is that came in chunks: Django and DRF take a body of unknown length for none."""
        names = {name.lower() for name, _ in scope["headers"]}
        if b"content-length" not in names:
            size = body_file.seek(0, SEEK_END)
            body_file.seek(0)
            scope = {**scope, "headers": [*scope["headers"], (b"content-length", str(size).encode())]}
        return super().create_request(scope, body_file)

    async def get_response_async(self, request: ASGIRequest) -> HttpResponseBase:  # type: ignore[override]
        if self._is_full():  # Others came while the body was read.
            return overloaded()
        future = self._threads.submit(copy_context().run, self._respond, request)
        self._in_hand.add(future)
        future.add_done_callback(self._in_hand.discard)
        return await asyncio.wrap_future(future)

    def _respond(self, request: ASGIRequest) -> HttpResponseBase:
        # Django does this around a request too, but in another thread, where there is no connection.
        close_old_connections()
        try:
            return self.get_response(request)
        finally:
            close_old_connections()


def _declared_length(scope: Mapping[str, Any]) -> int:
    lengths = (value for name, value in scope["headers"] if name.lower() == b"content-length")
    return max((int(value) for value in lengths if value.isdigit()), default=0)
