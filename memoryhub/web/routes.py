"""What the web server must know of a route before it reads a request."""

from functools import lru_cache
from typing import Any

from django.conf import settings
from django.urls import Resolver404, ResolverMatch, resolve

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
    of_view = getattr(getattr(view, "cls", view), "body_limit", None)
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
    match = match_of(path)
    return None if match is None else match.func


def match_of(path: str) -> ResolverMatch | None:
    """Return the route of a path, None where there is none. Callers share it, so that none may change it.

    It is remembered: Django tries one pattern after the other, which takes as long as parsing a body.
    """
    urls = settings.ROOT_URLCONF
    return _cached_match(path, urls) if len(path) <= CACHED_CHARS else _find_match(path, urls)


def _find_match(path: str, urls: str) -> ResolverMatch | None:
    try:
        return resolve(path, urls)
    except Resolver404:
        return None


_cached_match = lru_cache(maxsize=1_024)(_find_match)
