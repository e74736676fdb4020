"""What the web server must know of a route before it reads a request."""

from functools import lru_cache
from typing import Any

from django.urls import Resolver404, resolve

from apps.core.rest.views import healthz, readyz
from apps.core.schemas.bodies import KIB, BodyLimit, small_limit
from memoryhub.web.queue import Lane

# Forms of the admin: rules are the longest.
PAGE_LIMIT = BodyLimit(2_560 * KIB, 0)
CACHED_CHARS = 200


def body_limit_of(path: str) -> BodyLimit:
    """Return how large the body of a request to a path may be."""
    view = view_of(path)
    if view is None:
        return small_limit()
    of_view = getattr(getattr(view, "cls", None), "body_limit", None)
    limit: BodyLimit = of_view() if of_view else PAGE_LIMIT
    return limit


def lane_of(path: str) -> Lane:
    """Return the lane of a request to a path."""
    view = view_of(path)
    if view is readyz or view is healthz:
        return Lane.READINESS
    return Lane.HEAVY if getattr(getattr(view, "cls", None), "is_heavy", False) else Lane.USUAL


def view_of(path: str) -> Any:
    """Return the view of a path, None where there is none."""
    return _cached_view(path) if len(path) <= CACHED_CHARS else _find_view(path)


def _find_view(path: str) -> Any:
    try:
        return resolve(path).func
    except Resolver404:
        return None


_cached_view = lru_cache(maxsize=1_024)(_find_view)
