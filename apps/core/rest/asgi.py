"""Serving synchronous Django under ASGI with one thread hop per request."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from os import SEEK_END
from typing import IO, Any

from django.conf import settings
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.db import close_old_connections
from django.http.response import HttpResponseBase


class ThreadedASGIHandler(ASGIHandler):
    """Runs the whole chain of middleware and the view in one of a fixed number of threads.

    Our middleware and views are synchronous: Django's own handler would hop between the event loop and a thread
    for each of them, and give every request a new thread, which would have to connect to the database anew.
    Here each thread keeps its connection.
    """

    def __init__(self) -> None:
        super().__init__()
        self._threads = ThreadPoolExecutor(settings.MEMORYHUB.web_threads, thread_name_prefix="request")

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    def create_request(self, scope: Mapping[str, Any], body_file: IO[bytes]) -> tuple[Any, Any]:
        """Say how long a body is that came in chunks: Django and DRF take a body of unknown length for none."""
        names = {name.lower() for name, _ in scope["headers"]}
        if b"content-length" not in names:
            size = body_file.seek(0, SEEK_END)
            body_file.seek(0)
            scope = {**scope, "headers": [*scope["headers"], (b"content-length", str(size).encode())]}
        return super().create_request(scope, body_file)

    async def get_response_async(self, request: ASGIRequest) -> HttpResponseBase:  # type: ignore[override]
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, copy_context().run, self._respond, request)

    def _respond(self, request: ASGIRequest) -> HttpResponseBase:
        # Django does this around a request too, but in another thread, where there is no connection.
        close_old_connections()
        try:
            return self.get_response(request)
        finally:
            close_old_connections()
