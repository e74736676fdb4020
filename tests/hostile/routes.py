"""Every route of the hub, and an address of each."""

import re
from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

NIL = "00000000-0000-0000-0000-000000000000"


def all_routes() -> Iterator[tuple[str, URLPattern]]:
    """Yield every route of the hub with its pattern."""
    yield from routes_of(get_resolver().url_patterns)


def routes_of(patterns: Any, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Yield each route of some patterns with its pattern."""
    for one in patterns:
        path = prefix + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from routes_of(one.url_patterns, path)
        else:
            yield path, one


def address(route: str) -> str:
    """Return an address of a route."""
    filled = re.sub(r"<uuid:\w+>", NIL, route)
    filled = re.sub(r"<(?:\w+:)?\w+>|\(\?P<\w+>[^)]*\)", "1", filled)
    return "/" + re.sub(r"[\^$]|\\Z", "", filled)
