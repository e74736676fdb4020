"""Connections to servers that operators name, and the watchdog that ends calls at their deadlines.

HTTP clients know only how long one read may take. A server that sends a byte now and then, or a comment to keep the
connection open, would hold a caller for as long as it likes. So a watchdog shuts down the connection of a call at the
call's deadline, which wakes the thread that reads from it. A client serves one call at a time, so no other call is
affected. Two things may go on past the deadline: looking up a host's name takes as long as the resolver takes, and a
TLS handshake as long as the timeout for connecting.
"""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

import httpcore2
import httpx2

from apps.core.per_process import PerProcess

KEEPALIVE_SECONDS = 60.0
TICK_SECONDS = 0.02
"""How exact deadlines are."""
DRAIN_SECONDS = 0.05
"""How long to wait for the end of an answer after its last word, to keep the connection."""
SENT_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "anthropic-version",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
        "user-agent",
    }
)
_LAST_WORD = b"[DONE]"


class CallConnection:
    """An HTTP client for one call at a time, which the watchdog can interrupt. Proxies are those of the environment.

    Redirects are not followed: what is sent goes to the configured server and to no other. Headers are
    `SENT_HEADERS`: the SDKs add others, from variables of their own and about this machine.

    deadline: when the call must be over, by `time.monotonic`; may be changed while it is watched. is_interrupted: the
    watchdog has shut the connection down.
    """

    def __init__(self) -> None:
        self.http = httpx2.Client(
            verify=tls_context(),
            limits=httpx2.Limits(keepalive_expiry=KEEPALIVE_SECONDS),
            follow_redirects=False,
            event_hooks={"request": [self.prepare], "response": [self.keep_connection]},
        )
        self.deadline = 0.0
        self.is_interrupted = False
        self._stream: httpcore2.NetworkStream | None = None

    @contextlib.contextmanager
    def watch(self, deadline: float) -> Iterator[None]:
        """Watch a call, which must be over at `deadline`."""
        self.deadline = deadline
        watchdog = _watchdog.get()
        watchdog.add(self)
        try:
            yield
        finally:
            watchdog.remove(self)

    def interrupt(self) -> None:
        """End what is going on over the connection, now or as soon as there is one."""
        self.is_interrupted = True
        if self._stream is not None:
            # Not `close`, which does not wake a thread that reads; not the method of a TLS socket, which is not safe
            # while another thread reads.
            with contextlib.suppress(OSError):
                socket.socket.shutdown(self._stream.get_extra_info("socket"), socket.SHUT_RDWR)

    def prepare(self, request: httpx2.Request) -> None:
        """Drop headers, and have httpcore report what it does."""
        for name in [name for name in request.headers if name not in SENT_HEADERS]:
            del request.headers[name]
        request.extensions["trace"] = self.trace

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Remember the connection's socket, which the `trace` extension of httpcore tells as soon as it is open."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._stream = info["return_value"]
            if self.is_interrupted:
                self.interrupt()

    def keep_connection(self, response: httpx2.Response) -> None:
        """Have the end of an answer read, so that its connection can be used again."""
        if isinstance(response.stream, httpx2.SyncByteStream):
            response.stream = _DrainedStream(response.stream, self)


C = TypeVar("C")


class BorrowedClient(NamedTuple, Generic[C]):
    """A client that makes one call at a time, and its connection."""

    client: C
    connection: CallConnection


class ClientPool(Generic[C]):
    """The clients of one server, each for one call at a time. new_client: creates one over an HTTP client."""

    def __init__(self, new_client: Callable[[httpx2.Client], C]) -> None:
        self._new_client = new_client
        self._idle: PerProcess[list[BorrowedClient[C]]] = PerProcess(list)

    @contextlib.contextmanager
    def borrow(self, deadline: float) -> Iterator[BorrowedClient[C]]:
        """Lend a client to a call that must be over at `deadline`; afterwards it serves others, or is closed."""
        idle = self._idle.get()
        try:
            borrowed = idle.pop()
        except IndexError:
            connection = CallConnection()
            borrowed = BorrowedClient(self._new_client(connection.http), connection)
        try:
            with borrowed.connection.watch(deadline):
                yield borrowed
        finally:
            if borrowed.connection.is_interrupted:
                borrowed.connection.http.close()
            else:
                idle.append(borrowed)

    def close(self) -> None:
        """Close the idle clients of this process; the next call opens new ones."""
        for idle in self._idle.forget():
            for _, connection in idle:
                connection.http.close()


class _DrainedStream(httpx2.SyncByteStream):
    """The body of an answer whose reader hangs up at `[DONE]`, a few bytes before its end.

    OpenAI's SDK does. The connection would be closed, and each streamed answer cost a new one.
    """

    def __init__(self, inner: httpx2.SyncByteStream, connection: CallConnection) -> None:
        self._inner = inner
        self._connection = connection
        self._parts: Iterator[bytes] = iter(())
        self._last = b""

    def __iter__(self) -> Iterator[bytes]:
        self._parts = iter(self._inner)
        for part in self._parts:
            self._last = part
            yield part

    def close(self) -> None:
        if _LAST_WORD in self._last:
            self._connection.deadline = min(self._connection.deadline, time.monotonic() + DRAIN_SECONDS)
            with contextlib.suppress(httpx2.HTTPError):
                for _ in self._parts:
                    pass
        self._inner.close()


class Watchdog:
    """Interrupts calls at their deadlines, in one thread for all calls of a process."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._calls: set[CallConnection] = set()
        self._thread: threading.Thread | None = None

    def add(self, call: CallConnection) -> None:
        """Watch a call from now on."""
        with self._changed:
            self._calls.add(call)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="call-watchdog", daemon=True)
                self._thread.start()
            elif len(self._calls) == 1:
                self._changed.notify()

    def remove(self, call: CallConnection) -> None:
        """Stop watching a call; afterwards it is not interrupted any more."""
        with self._changed:
            self._calls.discard(call)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._calls:
                    self._changed.wait()
                now = time.monotonic()
                for call in [call for call in self._calls if call.deadline <= now]:
                    self._calls.discard(call)
                    call.interrupt()
            # Deadlines change while a call is under way; looking often is cheaper than a wake-up for each change.
            time.sleep(TICK_SECONDS)


@cache
def tls_context() -> ssl.SSLContext:
    """Return the one TLS context of all clients: reading the certificates takes milliseconds."""
    return httpx2.create_ssl_context()


_watchdog = PerProcess(Watchdog)
