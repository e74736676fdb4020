"""The base of every API view, health and metrics."""

import hmac
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from apps.core import health, metrics
from apps.core.domain.scope import Access, Permission
from apps.core.key_usage import key_usage
from apps.core.rest.authentication import Caller
from apps.core.schemas.bodies import BodyLimit, small_limit
from apps.core.schemas.fields import printable
from apps.core.schemas.serializers import NoInput, validate


class HubView(APIView):
    """A view that acts as the caller of the request.

    query_methods: the methods that take a query string, which the view checks with `validate_query`; with
    any other a parameter is refused like an unknown field.
    body_limit: returns how large a body may be; the web server refuses a larger one unread.
    is_heavy: a request works through many items, and waits for a thread behind all others.
    """

    needed_permission: Permission | None = None
    body_limit: Callable[[], BodyLimit] = staticmethod(small_limit)
    is_heavy = False
    query_methods: frozenset[str] = frozenset()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse, after the key was checked, one that its person stopped, and a query string where there is none."""
        super().initial(request, *args, **kwargs)
        if isinstance(request.auth, Access):
            request.auth.refuse_stopped()
        takes_none = request.method not in self.query_methods and hasattr(self, str(request.method).lower())
        if takes_none and request.query_params:
            validate_query(NoInput, request)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Count the use of the key, or its refusal."""
        caller = vars(request).get("_user")  # not `user`, which would check the key again
        if isinstance(caller, Caller):
            key_usage().note(caller.key_id, response.status_code)
        return super().finalize_response(request, response, *args, **kwargs)

    @property
    def access(self) -> Access:
        """Return what the caller may do."""
        access = self.request.auth
        assert isinstance(access, Access)
        return access


def validate_query(serializer: type[BaseSerializer[Any]], request: Request) -> Any:
    """Return the checked query string, in which no parameter may occur twice."""
    repeated = [name for name, values in request.query_params.lists() if len(values) > 1]
    if repeated:
        raise ValidationError({printable(name): ["Given more than once."] for name in repeated[:10]}, code="repeated")
    return validate(serializer, request.query_params.dict())


def created(body: Any, name: str, *parts: object, headers: Mapping[str, str] | None = None) -> Response:
    """Return 201 with what was created, and its address. name: of the route; parts: what the route takes."""
    address = {"Location": reverse(name, args=parts)}
    return Response(body, status=status.HTTP_201_CREATED, headers={**(headers or {}), **address})


def refuse_body(request: Request) -> None:
    """Refuse a body with fields where a call takes none."""
    validate(NoInput, request.data)


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 while this process answers at all."""
    return JsonResponse(health.ALIVE)


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when everything that requests need is ready; else 503, which names what is not."""
    report = health.readiness()
    if report.ready:
        return JsonResponse({"status": "ready", "checks": report.checks})
    response = JsonResponse({"status": "not ready", "checks": report.checks}, status=503)
    response["Retry-After"] = "2"
    return response


@require_safe
def prometheus(request: HttpRequest) -> HttpResponse:
    """Answer with the metrics of all processes together, in Prometheus' text format."""
    token = settings.MEMORYHUB.metrics_token
    if token and not hmac.compare_digest(request.headers.get("Authorization", "").encode(), f"Bearer {token}".encode()):
        return JsonResponse({"status": "unauthorized"}, status=401)
    return HttpResponse(metrics.exposition(), content_type=metrics.CONTENT_TYPE)
