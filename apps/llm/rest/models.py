"""Chat models over REST: their state and their list (DESIGN section 5)."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView
from apps.llm.model_catalogue import models_listing
from apps.llm.schemas.models import ModelsListOutput, ModelsStatusOutput, render_models, render_status
from apps.llm.status import models_status


class ModelsStatusView(HubView):
    """The state of the chat models."""

    @extend_schema(operation_id="llm_status", responses={200: ModelsStatusOutput})
    def get(self, request: Request) -> Response:
        """Report which chat models are configured, whether calls get through, and their cost and duration.

        Without a chat model everything else works; then `configured` is false.
        """
        return Response(render_status(models_status(self.access)))


class ModelsView(HubView):
    """The models of the configured providers."""

    @extend_schema(operation_id="llm_models", responses={200: ModelsListOutput})
    def get(self, request: Request) -> Response:
        """List the models that the configured providers offer, with known prices.

        The configured ones are always included. A provider that does not answer within seconds is named with the
        reason; then the models known before are listed. Each is asked once in a few minutes at most.
        """
        return Response(render_models(models_listing()))
