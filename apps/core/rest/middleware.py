"""Middleware: metrics of every request, and the headers of every answer."""

import time
from collections.abc import Callable
from functools import cached_property

from csp.constants import HEADER as POLICY_HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.core.exceptions import TooManyFieldsSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from rest_framework.response import Response

from apps.core.access_notes import note_access
from apps.core.metrics import HTTP_REQUESTS, HTTP_SECONDS
from apps.core.rest.errors import bad_request

METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}


def count_request(method: str, route: str, status: int) -> str:
    """Count an answer; return the method as its label has it."""
    label = method if method in METHODS else "other"
    HTTP_REQUESTS.labels(label, route, status).inc()
    return label


class RequestMetricsMiddleware:
    """Counts each answer and its time by route template, so that no identifier becomes a label.

    It is the first to see a request, so it also refuses a query string of too many parameters: code that reads one
    later would take what Django raises for a fault of the hub.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        try:
            _ = request.GET
            response = None
        except TooManyFieldsSent as error:
            response = bad_request(request, error)
        response = response or self.get_response(request)
        route = request.resolver_match.route if request.resolver_match else "unknown"
        method = count_request(request.method or "", route, response.status_code)
        HTTP_SECONDS.labels(method, route).observe(time.perf_counter() - started)
        note_access(request)
        return response


class ContentPolicyMiddleware(CSPMiddleware):
    """The headers that say what a page may do: what it loads and runs, which devices it may use, and who may keep it.

    No browser and no proxy keeps an answer whose view does not say that it may: passwords, codes of a second factor and
    keys are shown by views of others too, and by those that come later.

    For JSON, which is never rendered, the header of django-csp is made once and not for each answer.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Add the headers."""
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers.setdefault("Permissions-Policy", settings.PERMISSIONS_POLICY)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        is_plain = isinstance(response, Response | JsonResponse) and getattr(request, "_csp_nonce", None) is None
        if not is_plain or any(name.startswith("_csp") for name in vars(response)):
            return super().process_response(request, response)
        response.headers.setdefault(POLICY_HEADER, self._policy)
        return response

    @cached_property
    def _policy(self) -> str:
        return build_policy()
