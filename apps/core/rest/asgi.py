"""Serving synchronous Django under ASGI with one thread hop per request."""

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.http.response import HttpResponseBase


class ThreadedASGIHandler(ASGIHandler):
    """Runs the whole chain of middleware and the view in one thread.

    Our middleware and views are synchronous. Django's own handler would hop between the event loop and a
    thread for each middleware; the chain as a whole needs one hop.
    """

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: ASGIRequest) -> HttpResponseBase:  # type: ignore[override]
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)
