"""Counting and timing of requests."""

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from apps.core.metrics import HTTP_REQUESTS, HTTP_SECONDS

METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}


class RequestMetricsMiddleware:
    """Counts each answer and its time by route template, so that no identifier becomes a label."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        response = self.get_response(request)
        route = request.resolver_match.route if request.resolver_match else "unknown"
        method = request.method if request.method in METHODS else "other"
        HTTP_REQUESTS.labels(method, route, response.status_code).inc()
        HTTP_SECONDS.labels(method, route).observe(time.perf_counter() - started)
        return response
