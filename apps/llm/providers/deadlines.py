"""Deadlines for whole HTTP calls.

HTTP clients know only how long one read may take. A server that sends a byte now and then, or a comment to keep the
connection open, would hold a caller for as long as it likes. So each read, write and connection gets a timeout that
knows when the call must be over, and a network backend (an extension point of httpcore) that heeds it. Only looking up
a host's name takes as long as the resolver likes.
"""

import ssl
import time
from collections.abc import Iterable
from typing import Any

import httpcore2
import httpx2

from apps.llm.domain.chat import Timeouts

_SLICE = 64 * 1024


class Seconds(float):
    """Seconds that one operation on the network may take. deadline: by `time.monotonic`, when all must be over."""

    deadline: float

    def __new__(cls, seconds: float, deadline: float) -> "Seconds":
        made = super().__new__(cls, seconds)
        made.deadline = deadline
        return made

    @property
    def left(self) -> float:
        """What may be used of it now; 0 or less once the deadline has passed."""
        return min(self, self.deadline - time.monotonic())


def bounded(timeouts: Timeouts, deadline: float, *, streams: bool) -> httpx2.Timeout:
    """The timeouts of one HTTP call that must be over at `deadline`.

    streams: whether its answer comes in pieces, between which no more than `timeouts.idle` may pass.
    """
    read = Seconds(timeouts.idle if streams else timeouts.total, deadline)
    connect = Seconds(timeouts.connect, deadline)
    return httpx2.Timeout(connect=connect, read=read, write=read, pool=connect)


def deadline_of(timeout: httpx2.Timeout) -> float:
    """When a `bounded` call must be over, by `time.monotonic`."""
    assert isinstance(timeout.read, Seconds)
    return timeout.read.deadline


def set_deadline(timeout: httpx2.Timeout, deadline: float) -> None:
    """Have a `bounded` call that is under way be over at another time."""
    assert isinstance(timeout.read, Seconds)
    timeout.read.deadline = deadline


def heed_deadlines(client: httpx2.Client) -> None:
    """Have a client keep to the deadlines of calls that are `bounded`."""
    # httpcore takes a network backend, but httpx has no way to hand it one, and its own transports know the proxies.
    for transport in (client._transport, *client._mounts.values()):
        if isinstance(transport, httpx2.HTTPTransport):
            pool = transport._pool
            pool._network_backend = _Backend(pool._network_backend)


class _Backend(httpcore2.NetworkBackend):
    """Opens connections that heed deadlines."""

    def __init__(self, inner: httpcore2.NetworkBackend) -> None:
        self._inner = inner

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        left = _left(timeout, httpcore2.ConnectTimeout)
        return _Stream(self._inner.connect_tcp(host, port, left, local_address, socket_options))


class _Stream(httpcore2.NetworkStream):
    """A connection whose reads and writes heed deadlines."""

    def __init__(self, inner: httpcore2.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _SLICE):
            self._inner.write(buffer[start : start + _SLICE], _left(timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        left = _left(timeout, httpcore2.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _left(timeout: float | None, error: type[httpcore2.TimeoutException]) -> float | None:
    if not isinstance(timeout, Seconds):
        return timeout
    left = timeout.left
    if left <= 0:
        raise error("The deadline has passed.")
    return left
