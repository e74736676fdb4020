"""Which models and which tools there are, over REST (DESIGN section 5)."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView
from apps.llm.model_catalogue import models_listing
from apps.llm.schemas import models as outputs
from apps.llm.tools.registry import tool_registry


class ModelsView(HubView):
    """The models of the configured providers."""

    @extend_schema(operation_id="llm_models", responses={200: outputs.ModelsListOutput})
    def get(self, request: Request) -> Response:
        """List the models that the configured providers say they have, with the prices that are known.

        The configured ones are always there. A provider that does not answer within seconds is named with the
        reason; then the models known before are listed. Each is asked once in a few minutes at most.
        """
        return Response(outputs.models_json(models_listing()))


class ToolsView(HubView):
    """The tools that models may ask for."""

    @extend_schema(operation_id="llm_tools_list", responses={200: outputs.ToolListOutput})
    def get(self, request: Request) -> Response:
        """List the tools with the schemas of their parameters, to be told to a model."""
        return Response(outputs.tools_json(list(tool_registry()), self.access))
