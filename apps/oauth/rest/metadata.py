"""What the hub says of itself to apps that want to sign in (RFC 8414, RFC 9728)."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.core.pages.addresses import hub_address
from apps.oauth.asked import READ, WRITE
from apps.oauth.domain.resources import resource_of

AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"]


@require_safe
def authorization_server(request: HttpRequest) -> JsonResponse:
    """Say where and how apps sign in."""
    address = hub_address(request)
    said: dict[str, Any] = {
        "issuer": address,
        "authorization_endpoint": address + reverse("webui:sign_in"),
        "token_endpoint": address + reverse("oauth-token"),
        "revocation_endpoint": address + reverse("oauth-revoke"),
        "scopes_supported": [READ, WRITE],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": AUTH_METHODS,
        "revocation_endpoint_auth_methods_supported": AUTH_METHODS,
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
    }
    if settings.MEMORYHUB.app_registration:
        said["registration_endpoint"] = address + reverse("oauth-register")
    return JsonResponse(said)


@require_safe
def protected_resource(request: HttpRequest, project: str = "") -> JsonResponse:
    """Say who lets apps in to MCP, of all or of a project."""
    address = hub_address(request)
    said = {
        "resource": resource_of(address, project),
        "authorization_servers": [address],
        "scopes_supported": [READ, WRITE],
        "bearer_methods_supported": ["header"],
        "resource_name": "MemoryHub",
    }
    return JsonResponse(said)
