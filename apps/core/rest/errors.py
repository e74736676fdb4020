"""Errors as answers, all in the shape of `schemas.errors` (DESIGN D12)."""

import logging
from typing import Any, cast

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views import defaults
from drf_standardized_errors.handler import exception_handler
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.response import Response

from apps.core.domain import errors
from apps.core.schemas.errors import problem, status_of

logger = logging.getLogger(__name__)

DATABASE_RETRY_SECONDS = 2
OVERLOAD_RETRY_SECONDS = 1


class BodyTooLarge(APIException):
    """A request body beyond DATA_UPLOAD_MAX_MEMORY_SIZE."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"

    def __init__(self) -> None:
        super().__init__(f"The request body is too large: at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes.")


def handle_exception(exception: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler: errors of the domain and of the database become answers, the rest is DRF's."""
    if isinstance(exception, errors.MemoryHubError):
        return _domain_answer(exception)
    if isinstance(exception, OperationalError | InterfaceError):
        logger.warning("database unavailable: %s", type(exception).__name__)
        return _logged(database_unavailable())
    if isinstance(exception, RequestDataTooBig):
        exception = BodyTooLarge()
    return exception_handler(exception, cast("Any", context))


def _domain_answer(error: errors.MemoryHubError) -> Response:
    code = status_of(error)
    kind = "server_error" if code >= 500 else "validation_error" if code == 400 else "client_error"
    response = Response(problem(kind, error.code, error.detail, error.attr), status=code)
    if isinstance(error, errors.UnavailableError):
        logger.warning("unavailable: %s", error.code)
        response["Retry-After"] = str(error.retry_after)
        return _logged(response)
    return response


def _logged(response: Response) -> Response:
    """Django logs an ERROR for every answer of 500 and above that nobody has logged."""
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def database_unavailable() -> Response:
    """503 with Retry-After: the database cannot be reached just now; nothing was written."""
    body = problem("server_error", "unavailable", "The database cannot be reached. Try again shortly.")
    response = Response(body, status=status.HTTP_503_SERVICE_UNAVAILABLE)
    response["Retry-After"] = str(DATABASE_RETRY_SECONDS)
    return response


def too_large() -> HttpResponse:
    """413 for a body that nobody reads to its end, which is why the connection cannot be used again."""
    error = BodyTooLarge()
    body = problem("client_error", error.default_code, str(error.detail))
    return JsonResponse(body, status=error.status_code, headers={"Connection": "close"})


def overloaded() -> HttpResponse:
    """503 with Retry-After: too many requests are waiting already; nothing was done."""
    body = problem("server_error", "overloaded", "Too many requests are waiting. Try again shortly.")
    headers = {"Retry-After": str(OVERLOAD_RETRY_SECONDS)}
    return JsonResponse(body, status=status.HTTP_503_SERVICE_UNAVAILABLE, headers=headers)


def _wants_json(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's own 400 (for example a suspicious host), in our shape under /api/."""
    if not _wants_json(request):
        return defaults.bad_request(request, exception)
    detail = "The request cannot be read."
    if isinstance(exception, TooManyFieldsSent):
        detail = f"Too many parameters: at most {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS}."
    return JsonResponse(problem("client_error", "bad_request", detail), status=400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's own 403, in our shape under /api/."""
    if not _wants_json(request):
        return defaults.permission_denied(request, exception)
    return JsonResponse(problem("client_error", "permission_denied", "Not permitted."), status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """An address that does not exist, in our shape under /api/."""
    if not _wants_json(request):
        return defaults.page_not_found(request, exception)
    return JsonResponse(problem("client_error", "not_found", "There is nothing at this address."), status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """An error of ours, in our shape under /api/."""
    if not _wants_json(request):
        return defaults.server_error(request)
    return JsonResponse(problem("server_error", "error", "Something went wrong here."), status=500)
