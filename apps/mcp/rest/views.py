"""MCP over HTTP: a message of a client in, its answer out (docs/guides/mcp.md)."""

from typing import Any
from urllib.parse import quote, unquote, urlsplit

from django.conf import settings
from django.http import HttpResponse, JsonResponse
from django.http.request import validate_host
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.request import Request

from apps.core.domain.errors import ForbiddenError
from apps.core.domain.scope import Permission
from apps.core.pages.addresses import hub_address
from apps.core.rest.authentication import ApiKeyAuthentication
from apps.core.rest.negotiation import FirstRenderer
from apps.core.rest.views import HubView
from apps.core.schemas.bodies import item_limit
from apps.core.schemas.serializers import validate
from apps.mcp.calls import Caller, access_of_person
from apps.mcp.engine import Exchange, engine
from apps.mcp.schemas import ProjectInput

METADATA = "/.well-known/oauth-protected-resource"
SCOPES = "read write"
PROJECT_HEADER = "X-MemoryHub-Project"
PARSE_ERROR = -32_700
NOT_JSON = "The body must be one JSON-RPC message in JSON."


class McpAuthentication(ApiKeyAuthentication):
    """Keys as everywhere, and those of apps that signed in for the address that they ask."""

    def resource_of(self, request: Request) -> str:
        return hub_address(request) + quote(request.path, safe="/")

    def authenticate_header(self, request: Request) -> str:
        """Say where an app without a key finds out how to sign in (RFC 9728, 5.1)."""
        metadata = f"{hub_address(request)}{METADATA}{quote(request.path, safe='/')}"
        return f'{super().authenticate_header(request)}, resource_metadata="{metadata}", scope="{SCOPES}"'


class McpView(HubView):
    """The messages of clients of MCP. Each tool needs its own permission.

    Clients ask with GET for a stream of events, and know by a 405 that there is none (2025-11-25, transports).
    """

    authentication_classes = (McpAuthentication,)
    content_negotiation_class = FirstRenderer
    needed_permission = Permission.READ
    body_limit = staticmethod(item_limit)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse pages of other hosts, before the key is looked at."""
        origin = request.headers.get("Origin")
        if origin is not None and not is_own_origin(origin):
            raise ForbiddenError("Pages of this origin may not call this hub.", code="foreign_origin")
        super().initial(request, *args, **kwargs)

    @extend_schema(exclude=True)
    def post(self, request: Request, project: str = "") -> HttpResponse:
        """Answer a message."""
        named = project or unquote(request.headers.get(PROJECT_HEADER, ""))
        checked = validate(ProjectInput, {"project": named})["project"]
        caller = Caller(access_of_person(self.access), checked)
        if request.content_type.partition(";")[0].strip() == "application/json":
            try:
                _ = request.data
            except (ParseError, ValidationError):
                error = {"code": PARSE_ERROR, "message": NOT_JSON}
                return JsonResponse({"jsonrpc": "2.0", "id": None, "error": error}, status=400)
        exchange = Exchange(caller, request._request.body)
        engine.get().answer(exchange, request.headers)
        kind = exchange.headers.get("content-type", "application/json")
        response = HttpResponse(exchange.answer, status=exchange.status, content_type=kind)
        if "allow" in exchange.headers:
            response["Allow"] = exchange.headers["allow"]
        return response


def is_own_origin(origin: str) -> bool:
    """Return whether an Origin header names a host of this hub."""
    try:
        host = urlsplit(origin).hostname
    except ValueError:
        return False
    return host is not None and validate_host(f"[{host}]" if ":" in host else host, settings.ALLOWED_HOSTS)
