"""The access log: one line for each request, by its route and without contents."""

import json
import logging
import time
from collections.abc import Mapping, MutableMapping
from typing import Any

from apps.core.access_notes import NOTES
from apps.core.request_id import current_request_id
from apps.core.rest.middleware import METHODS
from memoryhub.web.gateway import Application, Receive, Send

# A request that ended without an answer, because its client went away (as nginx counts it).
NO_ANSWER = 499

logger = logging.getLogger("memoryhub.access")


class AccessLog:
    """Logs each HTTP request that an application answers. style: `text` or `json`."""

    def __init__(self, application: Application, style: str) -> None:
        self.application = application
        self.is_json = style == "json"

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request, and log it when its answer has ended."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        notes: dict[str, str] = {}
        scope[NOTES] = notes
        began, status, size = time.perf_counter(), NO_ANSWER, 0

        async def count(message: Mapping[str, Any]) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
            size += len(message.get("body", b""))
            await send(message)

        try:
            await self.application(scope, receive, count)
        finally:
            facts = {
                "method": scope["method"] if scope["method"] in METHODS else "other",
                "route": notes.get("route") or route_of(scope["path"]),
                "status": status,
                "ms": round((time.perf_counter() - began) * 1_000, 1),
                "bytes": size,
                "caller": notes.get("caller", "-"),
            }
            if self.is_json:
                logger.info("%s", json.dumps({**facts, "request_id": current_request_id()}))
            else:
                logger.info("%(method)s %(route)s %(status)s %(ms)s ms %(bytes)s bytes %(caller)s", facts)


def route_of(path: str) -> str:
    """Return the route of a request that reached no view: of files their folder, never what a client made up."""
    if path.startswith("/static/"):
        return "/static/"
    return path if path in {"/healthz", "/readyz", "/metrics"} else "unknown"
