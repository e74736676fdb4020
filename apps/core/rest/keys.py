"""API keys over REST; for operators."""

from datetime import timedelta
from uuid import UUID

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core import selectors, services
from apps.core.domain.scope import AccessStoppedError, Permission
from apps.core.rest.views import LOCATION, HubView, created, operation
from apps.core.schemas.keys import (
    KeyChanges,
    KeyCreatedOutput,
    KeyInput,
    KeyListOutput,
    KeyOutput,
    RotationInput,
    highest_permission,
)
from apps.core.schemas.serializers import scope_of


class KeysView(HubView):
    """The API keys of this hub; for operators."""

    needed_permission = Permission.OPERATOR

    @operation("keys_list", answer=KeyListOutput)
    def get(self, request: Request) -> Response:
        """List the keys, the newest first, without their secrets."""
        keys = list(selectors.key_list())
        return Response({"results": KeyOutput(keys, many=True).data, "count": len(keys)})

    @operation("keys_create", body=KeyInput, answer={201: KeyCreatedOutput}, errors=(422,), headers=[LOCATION])
    def post(self, request: Request) -> Response:
        """Create a key. The answer is the only one that ever shows its secret."""
        data = self.read_body()
        scope, reads = scope_of(data), data.get("reads", ())
        for owner in (scope.user_id, *reads):
            self.access.refuse_stopped(owner)
        key, secret = services.key_create(
            name=data["name"],
            scope=scope,
            permission=highest_permission(data.get("permissions")),
            expires_at=data.get("expires_at"),
            reads=reads,
            actor=self.access.actor,
            stopped_by=self.access.bound.without,
            origin=data["origin"],
        )
        return created({**KeyOutput(key).data, "key": secret}, "key", key.uuid)


class KeyView(HubView):
    """One API key; for operators."""

    needed_permission = Permission.OPERATOR

    @operation("keys_retrieve", answer=KeyOutput)
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a key, without its secret."""
        return Response(KeyOutput(selectors.key_get(uuid)).data)

    @operation("keys_revoke", answer={204: None})
    def delete(self, request: Request, uuid: UUID) -> Response:
        """Revoke a key at once."""
        services.key_revoke(uuid=uuid)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @operation("keys_update", body=KeyChanges, answer=KeyOutput, errors=(409,))
    def patch(self, request: Request, uuid: UUID) -> Response:
        """Rename a key, or change when it expires, its origin, or what it may read besides its bound."""
        changes = self.read_body()
        for owner in changes.get("reads", ()):
            self.access.refuse_stopped(owner)
        key = services.key_update(uuid=uuid, changes=changes)
        return Response(KeyOutput(key).data)


class RotateView(HubView):
    """A new secret for a key; for operators."""

    needed_permission = Permission.OPERATOR

    @operation("keys_rotate", body=RotationInput, answer=KeyCreatedOutput, errors=(409,))
    def post(self, request: Request, uuid: UUID) -> Response:
        """Replace the secret of a key. The answer is the only one that ever shows the new one."""
        overlap = timedelta(seconds=self.read_body()["overlap_seconds"])
        # Of a key that could read of those who stopped the caller, the caller gets no secret.
        if not set(self.access.bound.without).issubset(selectors.key_get(uuid).stopped_by):
            raise AccessStoppedError
        key, secret = services.key_rotate(uuid=uuid, overlap=overlap)
        return Response({**KeyOutput(key).data, "key": secret})
