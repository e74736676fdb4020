"""The SDK of MCP beside synchronous views: its loop has a thread, and what it calls runs in the thread of the view.

The SDK reads and writes the protocol asynchronously; everything of the hub that a call needs is synchronous and belongs
to a thread with a connection to the database. So the thread of a request hands its message to the loop, and runs
whatever the handlers ask it for until the answer is there. It is imported at the first message: that takes a second.
"""

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from apps.core.domain.errors import UnavailableError
from apps.core.per_process import PerProcess
from apps.mcp.calls import Caller

logger = logging.getLogger(__name__)
T = TypeVar("T")
Message = MutableMapping[str, Any]
Application = Callable[[Any, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]]
# In the ASGI scope of a message.
EXCHANGE = "memoryhub.mcp"
START_SECONDS = 30.0
# For the loop alone: what a call does in the thread of the view is not counted.
LOOP_SECONDS = 20.0
# Of what a client sends, the headers that the protocol has.
HEADERS = ("accept", "content-type", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "host")
PARAMETER_HEADERS = "mcp-param-"


@dataclass
class Exchange:
    """A message of a client and its answer. caller: of the key that sent it."""

    caller: Caller
    body: bytes
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    answer: bytes = b""
    _work: "queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None]" = field(default_factory=queue.SimpleQueue)
    _is_read: bool = False

    async def run(self, work: Callable[[Caller], T]) -> T:
        """Run something in the thread of the view, and wait for it."""
        done: Future[T] = Future()
        self._work.put((lambda: work(self.caller), done))
        return await asyncio.wrap_future(done)

    def serve(self, application: "Future[None]") -> None:
        """Run, in the thread of the view, what handlers ask for, until the application has ended."""
        application.add_done_callback(lambda _: self._work.put(None))
        while True:
            try:
                asked = self._work.get(timeout=LOOP_SECONDS)
            except queue.Empty:
                application.cancel()
                logger.error("the loop of MCP did not answer for %s s", LOOP_SECONDS)
                raise UnavailableError("The hub is busy. Try again shortly.", code="overloaded") from None
            if asked is None:
                application.result()
                return
            work, done = asked
            try:
                done.set_result(work())
            except BaseException as error:  # noqa: BLE001  (it belongs to the handler that asked)
                done.set_exception(error)

    async def receive(self) -> Message:
        """Return the message, once; a client that goes away is not noticed, since its answer takes no longer for it."""
        if self._is_read:
            await asyncio.Event().wait()
        self._is_read = True
        return {"type": "http.request", "body": self.body, "more_body": False}

    async def send(self, message: Message) -> None:
        """Keep a part of the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in message["headers"]}
        else:
            self.answer += message.get("body", b"")


class Engine:
    """The server of the SDK in this process."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._application: Future[Application] = Future()
        self._thread = threading.Thread(target=self._run, name="mcp", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:
            if not self._application.done():
                self._application.set_exception(error)
            logger.exception("the loop of MCP has ended")
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        began = time.perf_counter()
        from apps.mcp.server import build_manager

        manager = build_manager()
        async with manager.run():
            logger.info("MCP is ready after %.1f s", time.perf_counter() - began)
            self._application.set_result(manager.asgi_app)
            await self._stop.wait()

    def answer(self, exchange: Exchange, headers: Mapping[str, str]) -> None:
        """Have a message answered. headers: of the request, of which the SDK sees those of the protocol."""
        application = self._application.result(START_SECONDS)
        passed = {
            name.lower(): value.strip()
            for name, value in headers.items()
            if name.lower() in HEADERS or name.lower().startswith(PARAMETER_HEADERS)
        }
        passed.setdefault("accept", "application/json")
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/mcp",
            "query_string": b"",
            "headers": [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in passed.items()],
            EXCHANGE: exchange,
        }

        async def run() -> None:
            await application(scope, exchange.receive, exchange.send)

        exchange.serve(asyncio.run_coroutine_threadsafe(run(), self._loop))

    def end(self) -> None:
        """End the loop and its thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(2)


engine = PerProcess(Engine)


def end_engine() -> None:
    """End the loop of this process, if there is one."""
    for one in engine.forget():
        one.end()
