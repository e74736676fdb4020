"""Connections to model servers."""

import contextlib
import time
from collections.abc import Iterator

import httpx2

from apps.llm.providers.deadlines import Seconds, heed_deadlines

MAX_CONNECTIONS = 100
KEEPALIVE_SECONDS = 60.0
DRAIN_SECONDS = 0.05
"""How long the end of an answer is waited for after its last word, to keep the connection."""
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


def http_client() -> httpx2.Client:
    """A client for calls that are `bounded`. Proxies are those of the environment.

    Redirects are not followed: what people told the hub goes to the configured server and to no other. Headers are
    `SENT_HEADERS`: the SDKs add others, from variables of their own and about this machine.
    """
    client = httpx2.Client(
        limits=httpx2.Limits(max_connections=MAX_CONNECTIONS, keepalive_expiry=KEEPALIVE_SECONDS),
        follow_redirects=False,
        event_hooks={"request": [_drop_headers], "response": [_keep_connection]},
    )
    heed_deadlines(client)
    return client


def _drop_headers(request: httpx2.Request) -> None:
    for name in [name for name in request.headers if name not in SENT_HEADERS]:
        del request.headers[name]


def _keep_connection(response: httpx2.Response) -> None:
    timeout = response.request.extensions.get("timeout", {}).get("read")
    if isinstance(response.stream, httpx2.SyncByteStream) and isinstance(timeout, Seconds):
        response.stream = _ReadToTheEnd(response.stream, timeout)


class _ReadToTheEnd(httpx2.SyncByteStream):
    """The body of an answer whose reader hangs up at `[DONE]`, a few bytes before its end.

    OpenAI's SDK does. The connection would be closed, and each streamed answer cost a new one.
    """

    def __init__(self, inner: httpx2.SyncByteStream, timeout: Seconds) -> None:
        self._inner = inner
        self._timeout = timeout
        self._parts: Iterator[bytes] = iter(())
        self._last = b""

    def __iter__(self) -> Iterator[bytes]:
        self._parts = iter(self._inner)
        for part in self._parts:
            self._last = part
            yield part

    def close(self) -> None:
        if _LAST_WORD in self._last:
            self._timeout.deadline = min(self._timeout.deadline, time.monotonic() + DRAIN_SECONDS)
            with contextlib.suppress(httpx2.HTTPError):
                for _ in self._parts:
                    pass
        self._inner.close()
