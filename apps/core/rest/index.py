"""What there is: an index of the API for clients."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, URLResolver, get_resolver
from django.views.decorators.http import require_safe

from apps.core.pages.addresses import hub_address
from apps.core.rest.authentication import KEY_HEADER

ROOT = "api/"
METHODS = ("get", "post", "put", "patch", "delete")
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


@require_safe
def api_index(request: HttpRequest) -> HttpResponse:
    """Answer with every address of the API and its methods. An id in an address is a name in braces."""
    base = f"{hub_address(request)}/"
    return JsonResponse(
        {
            "name": "MemoryHub",
            "version": settings.SPECTACULAR_SETTINGS["VERSION"],
            "authentication": KEY_HEADER,
            "documentation": f"{base}{ROOT}docs",
            "schema": f"{base}{ROOT}schema",
            "health": {"alive": f"{base}healthz", "ready": f"{base}readyz"},
            "addresses": [{"url": base + path, "methods": methods} for path, methods in sorted(api_routes())],
        }
    )


def api_routes() -> Iterator[tuple[str, list[str]]]:
    """Yield the path and the methods of each route of the API."""
    for route, view in _routes(get_resolver().url_patterns, ""):
        kind = getattr(view, "cls", None)
        if route.startswith(ROOT) and kind is not None:
            methods = [method.upper() for method in METHODS if hasattr(kind, method)]
            yield _PARAMETER.sub(r"{\1}", route), methods


def _routes(patterns: Sequence[URLPattern | URLResolver], prefix: str) -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, route)
        else:
            yield route, pattern.callback
