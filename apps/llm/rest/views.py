"""Chat models, and the tools for them, over REST (DESIGN section 5, spec 000 "ABP tool request parsing")."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.scope import Permission
from apps.core.rest.views import HubView, operation
from apps.core.schemas.bodies import document_limit
from apps.llm.domain.protocol.results import ProtocolMode
from apps.llm.model_catalogue import models_listing
from apps.llm.schemas import models, tools
from apps.llm.status import models_status
from apps.llm.tools.requests import output_execute, output_parse, tool_registry


class ModelsStatusView(HubView):
    """The state of the chat models."""

    @operation("llm_status", answer=models.ModelsStatusOutput)
    def get(self, request: Request) -> Response:
        """Report which chat models are configured, whether calls get through, and their cost and duration.

        Without a chat model everything else works; then `configured` is false.
        """
        return Response(models.render_status(models_status(self.access)))


class ModelsView(HubView):
    """The models of the configured providers."""

    @operation("llm_models", answer=models.ModelsListOutput)
    def get(self, request: Request) -> Response:
        """List the models that the configured providers offer, with known prices.

        The configured ones are always included. A provider that does not answer within seconds is named with the
        reason; then the models known before are listed. Each is asked once in a few minutes at most.
        """
        return Response(models.render_models(models_listing()))


class ToolsView(HubView):
    """The tools that models may request."""

    @operation("llm_tools_list", answer=tools.ToolListOutput)
    def get(self, request: Request) -> Response:
        """List the tools with the schemas of their parameters, for the prompt of a model."""
        return Response(tools.render_tools(list(tool_registry()), self.access))


class ParseView(HubView):
    """The requests in the output of a model."""

    needed_permission = Permission.READ
    body_limit = staticmethod(document_limit)

    @operation("llm_tools_parse", body=tools.ToolTextInput, answer=tools.ParseOutput)
    def post(self, request: Request) -> Response:
        """Find the tool requests in the output of a model. Runs nothing."""
        data = self.read_body()
        mode = ProtocolMode(data["mode"])
        return Response(tools.render_parsed(output_parse(text=data["text"], mode=mode), mode))


class ExecuteView(HubView):
    """The requests in the output of a model, executed. Each tool needs its own permission."""

    needed_permission = Permission.READ
    body_limit = staticmethod(document_limit)

    @operation("llm_tools_execute", body=tools.ToolCallInput, answer=tools.ExecuteOutput)
    def post(self, request: Request) -> Response:
        """Find the tool request in the output of a model and run it with the rights of this key.

        A call of a tool as OpenAI or Anthropic has it (`tool_use`, `function`, `function_call`) is taken as it is.
        Errors in the model's request are reported in `results`, with 200.
        """
        data = self.read_body()
        mode = ProtocolMode(data["mode"])
        executed = output_execute(access=self.access, text=data["text"], mode=mode)
        return Response(tools.render_executed(executed, mode))
