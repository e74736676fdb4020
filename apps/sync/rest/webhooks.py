"""Deliveries of forges: a signature takes the place of a key (spec 003, sync triggers)."""

from collections.abc import Mapping
from typing import IO, Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView
from apps.core.schemas.bodies import KIB, BodyLimit, BodyTooLargeError
from apps.sync import services

# A push of thousands of commits; what forges send of it is cut there.
MAX_DELIVERY_KIB = 5 * 1024


def delivery_limit() -> BodyLimit:
    """Return the limit of a delivery, which is read as bytes."""
    return BodyLimit(MAX_DELIVERY_KIB * KIB, 0)


class BytesParser(BaseParser):
    """Any body, left as it is: the signature is of its bytes."""

    media_type = "*/*"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the body, as bytes. Raises BodyTooLargeError."""
        limit = delivery_limit()
        body: bytes = stream.read(limit.size + 1)
        if len(body) > limit.size:
            raise BodyTooLargeError(limit.size)
        return body


class WebhookView(HubView):
    """Takes deliveries of GitHub, GitLab, Gitea and Forgejo, without a key: the secret of the source proves them."""

    authentication_classes = ()
    permission_classes = ()
    parser_classes = (BytesParser,)
    body_limit = staticmethod(delivery_limit)

    @extend_schema(exclude=True)
    def post(self, request: Request, uuid: UUID) -> Response:
        """Request an incremental sync; 404 for an unknown source and for a wrong signature alike."""
        body = request.data if isinstance(request.data, bytes) else b""
        answer = services.webhook_receive(uuid=uuid, headers=request.headers, body=body)
        shown = {"accepted": answer.accepted, "reason": answer.reason, "run": str(answer.run) if answer.run else None}
        return Response(shown, status=status.HTTP_202_ACCEPTED if answer.accepted else status.HTTP_200_OK)
