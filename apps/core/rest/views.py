"""The base of every API view, health and metrics."""

import hmac
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from django.conf import settings
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe
from drf_spectacular.utils import OpenApiParameter, extend_schema
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
from apps.core.run_name import HEADER as RUN_HEADER
from apps.core.run_name import name_run
from apps.core.schemas.bodies import BodyLimit, small_limit
from apps.core.schemas.fields import printable
from apps.core.schemas.paging import NEWEST_FIRST, Order, Page, PageEnds, page_links
from apps.core.schemas.serializers import NoInput, Problem, validate

Method = TypeVar("Method", bound=Callable[..., Any])
Row = TypeVar("Row", bound=Model)
# Of an answer that something was created.
LOCATION = OpenApiParameter(
    "Location", str, OpenApiParameter.HEADER, response=[201], description="The address of what was created."
)


def operation(
    name: str,
    *,
    query: type[BaseSerializer[Any]] | None = None,
    body: Any = None,
    answer: Any = None,
    errors: Collection[int] = (),
    headers: Sequence[OpenApiParameter] = (),
    **schema: Any,
) -> Callable[[Method], Method]:
    """Declare what a method of a view takes and answers, once for the OpenAPI document and for the view.

    name: its id in the document. query, body: the serializers that `read_query` and `read_body` check with; None where
    nothing is taken. A body may also be a schema, of what the view checks by itself.
    answer: of a 200, or answers by their status. errors: the statuses of a `Problem` besides those that all have.
    schema: what else `extend_schema` takes.
    """
    answers = dict(answer) if isinstance(answer, Mapping) else {200: answer}
    parameters: list[Any] = [*([query] if query else []), *headers]

    def declare(method: Method) -> Method:
        vars(method).update(query_input=query or NoInput, body_input=body or NoInput)
        described: Method = extend_schema(
            operation_id=name,
            parameters=parameters,
            request=body,
            responses=answers | dict.fromkeys(errors, Problem),
            **schema,
        )(method)
        return described

    return declare


class HubView(APIView):
    """A view that acts as the caller of the request. Each method that takes input is an `operation`.

    body_limit: returns how large a body may be; the web server refuses a larger one unread.
    is_heavy: a request works through many items, and waits for a thread behind all others.
    """

    needed_permission: Permission | None = None
    body_limit: Callable[[], BodyLimit] = staticmethod(small_limit)
    is_heavy = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse, after the key was checked, one that its person stopped, and a query string where there is none."""
        name_run(request.headers.get(RUN_HEADER, ""))
        super().initial(request, *args, **kwargs)
        if isinstance(request.auth, Access):
            request.auth.refuse_stopped()
        method = getattr(self, str(request.method).lower(), None)
        if method and request.query_params and getattr(method, "query_input", NoInput) is NoInput:
            self.read_query()

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

    def declared_input(self, name: str) -> type[BaseSerializer[Any]]:
        """Return the serializer of an input of this request's method. name: `query_input` or `body_input`."""
        method = getattr(self, str(self.request.method).lower())
        serializer: type[BaseSerializer[Any]] = getattr(method, name, NoInput)
        return serializer

    def read_query(self) -> Any:
        """Return the checked query string, in which no parameter may occur twice."""
        query = self.request.query_params
        repeated = [name for name, values in query.lists() if len(values) > 1]
        if repeated:
            texts = {printable(name): ["Given more than once."] for name in repeated[:10]}
            raise ValidationError(texts, code="repeated")
        return validate(self.declared_input("query_input"), query.dict())

    def read_body(self) -> Any:
        """Return the checked body; where the operation takes none, one with fields is refused."""
        return validate(self.declared_input("body_input"), self.request.data)

    def page(
        self,
        rows: QuerySet[Row],
        data: Mapping[str, Any],
        render: Callable[[Row], Any],
        *,
        order: Order = NEWEST_FIRST,
        include: Collection[str] = (),
        within: QuerySet[Row] | None = None,
    ) -> Response:
        """Answer with a page of rows. data: the checked query string. order, include, within: as of a `Page`."""
        counted = data.get("count", False)
        page = Page(
            rows,
            self.access,
            data.get("cursor"),
            data.get("limit"),
            order=order,
            count=counted,
            include=include,
            within=within,
        )
        return self.answer_page(page, [render(row) for row in page.rows])

    def answer_page(self, page: PageEnds, results: list[Any]) -> Response:
        """Answer with the results of a page, and the addresses of the pages beside it."""
        return Response({**page_links(page, self.request), "results": results})


def created(body: Any, name: str, *parts: object, headers: Mapping[str, str] | None = None) -> Response:
    """Return 201 with what was created, and its address. name: of the route; parts: what the route takes."""
    address = {"Location": reverse(name, args=parts)}
    return Response(body, status=status.HTTP_201_CREATED, headers={**(headers or {}), **address})


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
