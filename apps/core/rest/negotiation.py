"""Which parser and which renderer a request gets."""

from collections.abc import Iterable
from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

ANYTHING = "*/*"


class HubNegotiation(DefaultContentNegotiation):
    """That of REST framework, which weighs the kinds that a client accepts; most accept anything, or JSON."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> Any:
        """Return a renderer and its media type. Raises NotAcceptable."""
        accepted, known = request.headers.get("Accept", ANYTHING), list(renderers)
        if format_suffix is None and len(known) == 1 and accepted in {ANYTHING, known[0].media_type}:
            return known[0], known[0].media_type
        return super().select_renderer(request, known, format_suffix)


class FirstRenderer(DefaultContentNegotiation):
    """The first renderer whatever a client accepts, for a view that has one, and whose protocol judges `Accept`."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> Any:
        """Return a renderer and its media type."""
        first = next(iter(renderers))
        return first, first.media_type
