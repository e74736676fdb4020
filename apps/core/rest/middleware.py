"""Middleware: metrics of every request."""

import time
from collections.abc import Callable

from django.core.exceptions import TooManyFieldsSent
from django.http import HttpRequest, HttpResponse

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
        return response
