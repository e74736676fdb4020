"""Errors as answers, all in the shape of `schemas.errors` (DESIGN D12)."""

import logging
import sys
from typing import Any, cast

from django.conf import settings
from django.core.exceptions import DisallowedHost, RequestDataTooBig, TooManyFieldsSent
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from drf_standardized_errors.handler import exception_handler
from rest_framework import status
from rest_framework.response import Response

from apps.core.domain import errors
from apps.core.pages import errors as error_pages
from apps.core.request_id import current_request_id
from apps.core.schemas.bodies import BodyTooLargeError
from apps.core.schemas.errors import problem, status_of

logger = logging.getLogger(__name__)

DATABASE_RETRY_SECONDS = 2
OVERLOAD_RETRY_SECONDS = 1
API = "/api/"
# Addresses of people in a browser; programs ask at the others, too.
PAGES = ("/admin/", "/accounts/", "/bring/")


def handle_exception(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Turn errors of the domain and of the database into answers, and leave the rest to DRF.

    503 for the database means that it cannot be reached just now; nothing was written.
    """
    if isinstance(exception, RequestDataTooBig):
        exception = BodyTooLargeError(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    if isinstance(exception, OperationalError | InterfaceError):
        logger.warning("database unavailable: %s", type(exception).__name__)
        body = problem("server_error", "unavailable", "The database cannot be reached. Try again shortly.")
        return unavailable(body, status.HTTP_503_SERVICE_UNAVAILABLE, DATABASE_RETRY_SECONDS)
    if not isinstance(exception, errors.MemoryHubError):
        response = exception_handler(exception, cast("Any", context))
        if response is not None and response.status_code == status.HTTP_500_INTERNAL_SERVER_ERROR:
            response.data = fault()
        return response
    code = status_of(exception)
    kind = "server_error" if code >= 500 else "validation_error" if code in {400, 422} else "client_error"
    body = problem(kind, exception.code, exception.detail, exception.attr)
    if isinstance(exception, errors.ConflictError) and exception.current is not None:
        body["errors"][0]["current"] = exception.current
    if getattr(exception, "is_retryable", False):
        body["errors"][0]["retryable"] = True
    if isinstance(exception, errors.UnavailableError):
        logger.warning("unavailable: %s", exception.code)
        return unavailable(body, code, exception.retry_after)
    return Response(body, status=code)


def unavailable(body: dict[str, Any], code: int, retry_after: int) -> Response:
    """Return an answer with Retry-After that Django does not log as an ERROR, as it does from 500 on."""
    response = Response(body, status=code, headers={"Retry-After": str(retry_after)})
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def too_large(error: BodyTooLargeError, path: str) -> HttpResponse:
    """Return 413 for a body that is not read to its end, which is why the connection cannot be used again."""
    if path.startswith(PAGES):
        page = error_pages.plain_page(error_pages.TOO_LARGE)
        return HttpResponse(page, status=error.status_code, headers={"Connection": "close"})
    body = problem("client_error", error.default_code, str(error.detail))
    return JsonResponse(body, status=error.status_code, headers={"Connection": "close"})


def overloaded(path: str) -> HttpResponse:
    """Return 503 with Retry-After: too many requests are waiting already; nothing was done."""
    headers = {"Retry-After": str(OVERLOAD_RETRY_SECONDS)}
    if path.startswith(PAGES):
        return HttpResponse(error_pages.plain_page(error_pages.BUSY), status=error_pages.BUSY.status, headers=headers)
    body = problem("server_error", "overloaded", "Too many requests are waiting. Try again shortly.")
    return JsonResponse(body, status=status.HTTP_503_SERVICE_UNAVAILABLE, headers=headers)


def fault() -> dict[str, Any]:
    """Return the body of a 500: by the id of the request the operator finds the fault in the log."""
    detail = f"Something went wrong. The hub's log has the details under request {current_request_id()}."
    return problem("server_error", "error", detail)


def is_api(request: HttpRequest) -> bool:
    """Return whether the address is one of the API, whose errors are JSON."""
    return request.path.startswith(API)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 400 (for example for a suspicious host), as JSON under /api/; 413 for a form that is too large."""
    if not is_api(request):
        is_large = isinstance(exception, RequestDataTooBig)
        # A host that is not this hub's: nothing of the request is believed.
        is_plain = isinstance(exception, DisallowedHost)
        return error_pages.problem_page(
            request, error_pages.TOO_LARGE if is_large else error_pages.UNREADABLE, is_plain=is_plain
        )
    detail = "The request cannot be read."
    if isinstance(exception, TooManyFieldsSent):
        detail = f"Too many parameters: at most {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS}."
    return JsonResponse(problem("client_error", "bad_request", detail), status=400)


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return 403, as JSON under /api/."""
    if not is_api(request):
        return error_pages.problem_page(request, error_pages.FORBIDDEN)
    return JsonResponse(problem("client_error", "permission_denied", "Not permitted."), status=403)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return 403 for a form whose token is not the browser's, as JSON under /api/."""
    if not is_api(request):
        return error_pages.problem_page(request, error_pages.OUT_OF_DATE)
    return permission_denied(request)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return 404 for an address that does not exist, as JSON under /api/."""
    if not is_api(request):
        return error_pages.problem_page(request, error_pages.NOT_FOUND)
    return JsonResponse(problem("client_error", "not_found", "There is nothing at this address."), status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Return 500 for a fault of the hub, as JSON under /api/; for a database that is away a page of 503."""
    if is_api(request):
        return JsonResponse(fault(), status=500)
    error = sys.exc_info()[1]
    if of_database(error):
        return error_pages.problem_page(request, error_pages.NO_DATABASE, is_plain=True)
    return error_pages.problem_page(request, error_pages.FAULT, is_plain=error is None)


def of_database(error: BaseException | None) -> bool:
    """Return whether an error came of a database that cannot be reached."""
    while error is not None:
        if isinstance(error, OperationalError | InterfaceError):
            return True
        error = error.__cause__ or error.__context__
    return False
