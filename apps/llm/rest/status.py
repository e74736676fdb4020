"""The state of the chat models over REST (DESIGN section 5)."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView
from apps.llm.schemas.status import ModelsStatusOutput, status_json
from apps.llm.status import models_status


class ModelsStatusView(HubView):
    """How the chat models are."""

    @extend_schema(operation_id="llm_status", responses={200: ModelsStatusOutput})
    def get(self, request: Request) -> Response:
        """Say which chat models are configured, whether calls get through, and what they cost and took.

        Without a chat model everything else works; then `configured` is false.
        """
        return Response(status_json(models_status(self.access)))
