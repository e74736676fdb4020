"""The addresses of the hub, and some that fail."""

from django.core.exceptions import SuspiciousOperation
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.urls import path

from memoryhub.urls import (
    handler400 as handler400,
)
from memoryhub.urls import (
    handler403 as handler403,
)
from memoryhub.urls import (
    handler404 as handler404,
)
from memoryhub.urls import (
    handler500 as handler500,
)
from memoryhub.urls import urlpatterns as of_hub


def explode(request: HttpRequest) -> HttpResponse:
    """Fail as a mistake in a view does."""
    raise ValueError("the secret of ana")


def lose(request: HttpRequest) -> HttpResponse:
    """Fail as a view does whose database is away, below an error of its own."""
    try:
        raise OperationalError("connection refused")
    except OperationalError as error:
        raise ValueError("the secret of ana") from error


def distrust(request: HttpRequest) -> HttpResponse:
    """Refuse a request that no browser makes."""
    raise SuspiciousOperation("the secret of ana")


urlpatterns = [
    path("admin/explode/", explode),
    path("admin/lose/", lose),
    path("admin/distrust/", distrust),
    path("explode/", explode),
    *of_hub,
]
