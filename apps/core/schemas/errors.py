"""The shape of every error answer (DESIGN D12): {"type", "errors": [{"code", "detail", "attr"}]}."""

from typing import Any

from rest_framework import status

from apps.core.domain import errors

STATUS_OF: tuple[tuple[type[errors.MemoryHubError], int], ...] = (
    (errors.NotFoundError, status.HTTP_404_NOT_FOUND),
    (errors.ForbiddenError, status.HTTP_403_FORBIDDEN),
    (errors.InvalidInputError, status.HTTP_400_BAD_REQUEST),
    (errors.ContradictionError, status.HTTP_422_UNPROCESSABLE_ENTITY),
    (errors.ConflictError, status.HTTP_409_CONFLICT),
    (errors.StaleVersionError, status.HTTP_412_PRECONDITION_FAILED),
    (errors.ThrottledError, status.HTTP_429_TOO_MANY_REQUESTS),
    (errors.UnavailableError, status.HTTP_503_SERVICE_UNAVAILABLE),
)


def problem(kind: str, code: str, detail: str, attr: str | None = None) -> dict[str, Any]:
    """Return the body of an error answer."""
    return {"type": kind, "errors": [{"code": code, "detail": detail, "attr": attr}]}


def status_of(error: errors.MemoryHubError) -> int:
    """Return the HTTP status of an error of the domain."""
    return next(status_code for kind, status_code in STATUS_OF if isinstance(error, kind))
