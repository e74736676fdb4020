"""The permission that a call needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.permissions import SAFE_METHODS, BasePermission

from apps.core.domain.scope import Access, Permission

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
