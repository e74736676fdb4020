"""Synchronous Django under ASGI, with one thread hop per request."""

import asyncio
import gc
import threading
from collections.abc import Callable, Mapping
from contextvars import copy_context
from functools import partial
from io import BytesIO
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.db import close_old_connections, connections
from django.http import HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch

from apps.core.health import ALIVE
from apps.core.memory import give_back_memory
from apps.core.rest.errors import overloaded, too_large
from apps.core.rest.middleware import count_request
from apps.core.schemas.bodies import KIB, BodyTooLargeError
from memoryhub.web.gateway import Receive, Send
from memoryhub.web.queue import OverloadedError, RequestQueue
from memoryhub.web.routes import body_limit_of, lane_of, match_of

_is_running = threading.Lock()


def release_memory() -> None:
    """Collect garbage and return free memory of the C library to the system, in a thread.

    Django's tasks of a request refer to each other, and keep its body until the garbage is collected, which may be
    never in a quiet process. What was freed then stays in the arenas of the threads unless it is trimmed.
    """
    if _is_running.acquire(blocking=False):
        threading.Thread(target=_release, name="release memory", daemon=True).start()


def _release() -> None:
    try:
        gc.collect()
        give_back_memory()
    finally:
        _is_running.release()


# Bodies in the memory of one process; more are refused as overload.
MAX_BODY_BYTES = 256 * 1024 * KIB
# After a body of this size the memory that its request took goes back to the system.
LARGE_BODY_BYTES = 1024 * KIB
# It costs a collection of the garbage, so it is done once for all large requests of this time.
RELEASE_SECONDS = 5.0


class ThreadedASGIHandler(ASGIHandler):
    """Runs the whole chain of middleware and the view in one of a fixed number of threads.

    The middleware and views are synchronous: Django's own handler would hop between the event loop and a thread
    for each of them, and use a new thread for every request, which would have to open a new database connection.
    Here each thread keeps its connection. Some answers need no thread: /healthz, and refusals of overload and of
    bodies that are larger than their address takes.
    """

    def __init__(self) -> None:
        super().__init__()
        config = settings.MEMORYHUB
        self.queue: RequestQueue[HttpResponseBase] = RequestQueue(config.web_threads, config.web_wait_seconds)
        self._body_bytes = 0
        self._is_release_due = False
        lane_of("/")  # Imports all views now, and not while the first request waits.

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    def close(self) -> None:
        """End the threads and close their connections."""
        self.queue.close(connections.close_all)

    async def handle(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request, without a thread where that is possible."""
        answer = self.immediate_answer(scope)
        if answer is None:
            body = LimitedBody(receive, partial(self._reserve, path_of(scope)))
            try:
                await super().handle(scope, body.receive, send)
            except BodyTooLargeError as error:
                answer = too_large(error, path_of(scope))
            except OverloadedError:  # No memory for the body: it is not read to its end.
                answer = overloaded(path_of(scope))
                answer["Connection"] = "close"
            finally:
                self._body_bytes -= body.size
                if body.size > LARGE_BODY_BYTES:
                    self._release_later()
        if answer is not None:
            count_request(scope["method"], "healthz" if answer.status_code == 200 else "unknown", answer.status_code)
            await self.send_response(answer, send)

    def immediate_answer(self, scope: Mapping[str, Any]) -> HttpResponse | None:
        """Return the answer to a request that needs no thread; None for any other."""
        path = path_of(scope)
        if path == "/healthz" and scope["method"] in {"GET", "HEAD"}:
            return JsonResponse(ALIVE)
        if self.queue.is_full(lane_of(path)):
            return overloaded(path)
        lengths = (value for name, value in scope["headers"] if name.lower() == b"content-length")
        declared = max((int(value) for value in lengths if value.isdigit()), default=0)
        if declared and declared > (limit := body_limit_of(path).size):
            return too_large(BodyTooLargeError(limit), path)
        return None

    def _reserve(self, path: str, size: int, total: int) -> None:
        """Account for more bytes of a body. Raises BodyTooLargeError and OverloadedError."""
        limit = body_limit_of(path).size
        if total > limit:
            raise BodyTooLargeError(limit)
        if self._body_bytes + size > MAX_BODY_BYTES:
            raise OverloadedError
        self._body_bytes += size

    def _release_later(self) -> None:
        if not self._is_release_due:
            self._is_release_due = True
            asyncio.get_running_loop().call_later(RELEASE_SECONDS, self._release)

    def _release(self) -> None:
        self._is_release_due = False
        release_memory()

    async def read_body(self, receive: Receive) -> IO[bytes]:
        """Read the body into memory, which the limit of its address bounds: the event loop never waits for a disk."""
        body = BytesIO()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RequestAborted
            body.write(message.get("body", b""))
            if not message.get("more_body", False):
                body.seek(0)
                return body

    def create_request(self, scope: Mapping[str, Any], body_file: IO[bytes]) -> tuple[Any, Any]:
        """Add the length of a body that was sent in chunks: Django and DRF ignore a body of unknown length."""
        names = {name.lower() for name, _ in scope["headers"]}
        if b"content-length" not in names and isinstance(body_file, BytesIO):
            size = str(body_file.getbuffer().nbytes).encode()
            scope = {**scope, "headers": [*scope["headers"], (b"content-length", size)]}
        return super().create_request(scope, body_file)

    async def get_response_async(self, request: ASGIRequest) -> HttpResponseBase:  # type: ignore[override]
        work = partial(copy_context().run, self._respond, request)
        try:
            return await self.queue.run(work, lane_of(request.path_info))
        except OverloadedError:
            answer = overloaded(request.path_info)
            count_request(request.method or "", "unknown", answer.status_code)
            return answer

    def resolve_request(self, request: ASGIRequest) -> ResolverMatch:  # type: ignore[override]
        """Return the route of a request, as it is remembered. Raises Resolver404."""
        match = match_of(request.path_info)
        if match is None or hasattr(request, "urlconf"):
            return super().resolve_request(request)
        request.resolver_match = match
        return match

    def _respond(self, request: ASGIRequest) -> HttpResponseBase:
        # Django does this around a request too, but in another thread, where there is no connection.
        close_old_connections()
        try:
            return self.get_response(request)
        finally:
            close_old_connections()


class LimitedBody:
    """The messages of a body, each reserved before it is passed on. size: bytes that were reserved."""

    def __init__(self, receive: Receive, reserve: Callable[[int, int], None]) -> None:
        self._receive, self._reserve, self.size = receive, reserve, 0

    async def receive(self) -> Mapping[str, Any]:
        """Return the next message. Raises what `reserve` raises."""
        message = await self._receive()
        if count := len(message.get("body", b"")):
            self._reserve(count, self.size + count)
            self.size += count
        return message


def path_of(scope: Mapping[str, Any]) -> str:
    """Return the path of a request below the root of the application."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))
