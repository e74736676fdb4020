"""The WebSocket side of the web server: who may open a socket, and how many."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from apps.live import metrics
from apps.live.consumer import POLICY, LiveSocket
from apps.live.domain.origins import is_own_origin
from apps.live.process import LiveProcess, live_process
from apps.live.viewer import SessionsUnavailableError, Viewer, session_key_of

PATH = "/live"
# Pages that one account has open, in one process.
MAX_OF_ACCOUNT = 40
MAX_QUERY, MAX_DIGITS = 100, 16

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]


class RefusedError(Exception):
    """A socket is not opened. The handshake is answered with 403, and the reason is counted: browsers see neither."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def live_application(scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
    """Open a socket at /live to a page of the hub whose viewer is signed in; refuse every other one."""
    process = live_process()
    try:
        viewer = await admit(process, scope)
    except RefusedError as refusal:
        metrics.REFUSALS.labels(refusal.reason).inc()
        await receive()
        await send({"type": "websocket.close", "code": POLICY})
        return
    socket = LiveSocket(process, viewer, since_of(scope["query_string"]))
    await socket(scope, receive, send)


async def admit(process: LiveProcess, scope: Mapping[str, Any]) -> Viewer:
    """Return who opens a socket. Raises RefusedError."""
    if scope["path"].removeprefix(scope.get("root_path", "")) != PATH:
        raise RefusedError("path")
    if not is_from_here(scope):
        raise RefusedError("origin")
    session_key = session_key_of(scope["headers"])
    if session_key is None:
        raise RefusedError("signed_out")
    if not await process.is_open_soon():
        raise RefusedError("unavailable")
    try:
        viewer = await process.viewer_of(session_key)
    except SessionsUnavailableError:
        raise RefusedError("unavailable") from None
    if viewer is None:
        raise RefusedError("signed_out")
    # From here to the socket nothing waits, so that no two of them are counted as one.
    if process.count() >= settings.MEMORYHUB.live_sockets:
        raise RefusedError("full")
    if process.count(viewer.account) >= MAX_OF_ACCOUNT:
        raise RefusedError("account")
    return viewer


def is_from_here(scope: Mapping[str, Any]) -> bool:
    """Return whether a page of the hub opens a socket: host and origin are checked as in a request that writes."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    host, secure_header = headers.get("host", ""), settings.SECURE_PROXY_SSL_HEADER
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        return False
    is_secure = scope.get("scheme") == "wss"
    if secure_header is not None:
        name = secure_header[0].removeprefix("HTTP_").replace("_", "-").lower()
        is_secure = is_secure or headers.get(name) == secure_header[1]
    return is_own_origin(headers.get("origin", ""), host, is_secure=is_secure, trusted=settings.CSRF_TRUSTED_ORIGINS)


def since_of(query: bytes) -> int | None:
    """Return since when a page wants what has changed, in milliseconds; None where it does not say so."""
    value = parse_qs(query[:MAX_QUERY].decode("latin-1")).get("since", [""])[0]
    return int(value) if value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS else None
