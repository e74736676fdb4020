"""API keys in the Authorization header, and the permission that a call needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Access, Permission
from apps.core.key_usage import key_usage
from apps.core.selectors import key_verify
from apps.core.services import key_touch

KEY_HEADER = "Authorization: Bearer <key>"


@dataclass(frozen=True)
class Caller:
    """The caller of a REST request, in place of a Django user. key_id: of its key."""

    access: Access
    key_id: UUID
    is_authenticated: bool = True


class ApiKeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer <key>`. A wrong, revoked or expired key gets one and the same answer."""

    def authenticate(self, request: Request) -> tuple[Caller, Access]:
        parts = get_authorization_header(request).split()
        if not parts:
            raise NotAuthenticated(f"This address needs a key. Send {KEY_HEADER}")
        if len(parts) != 2 or parts[0].lower() != b"bearer":
            raise AuthenticationFailed(f"This header contains no key. Send {KEY_HEADER}")
        secret = parts[1].decode("latin-1")
        key = key_verify(secret, utcnow(SYSTEM_CLOCK), self.resource_of(request))
        if key is None:
            key_usage().note_refused_secret(secret)
            raise AuthenticationFailed(f"This key is not valid. Send {KEY_HEADER}")
        key_touch(key=key)
        return Caller(key.access, key.uuid), key.access

    def resource_of(self, request: Request) -> str:
        """Return the address that the key of an app that signed in must be for; "" lets in none of them."""
        return ""

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="MemoryHub"'


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The description of the key in the OpenAPI document."""

    target_class = ApiKeyAuthentication
    name = "ApiKey"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An API key of this hub."}


if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView


class HasKeyPermission(BasePermission):
    """Reading needs `read`, anything else `write`, unless the view sets `needed_permission`."""

    message = "This key does not permit that."

    def has_permission(self, request: Request, view: APIView) -> bool:
        access = request.auth
        return isinstance(access, Access) and access.allows(needed_permission(request.method or "", view))


def needed_permission(method: str, view: APIView) -> Permission:
    """Return the permission that a call of this method needs."""
    declared: Permission | None = getattr(view, "needed_permission", None)
    if declared is not None:
        return declared
    return Permission.READ if method in SAFE_METHODS else Permission.WRITE
