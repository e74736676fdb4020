"""Tools over REST (DESIGN section 5, spec 000 "ABP tool request parsing")."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.scope import Permission
from apps.core.rest.views import HubView
from apps.core.schemas.bodies import document_limit
from apps.core.schemas.serializers import validate
from apps.llm.domain.protocol.results import ProtocolMode
from apps.llm.schemas.tools import (
    ExecuteOutput,
    ParseOutput,
    ToolCallInput,
    ToolListOutput,
    ToolTextInput,
    render_executed,
    render_parsed,
    render_tools,
)
from apps.llm.tools.registry import tool_registry
from apps.llm.tools.requests import output_execute, output_parse


class ToolsView(HubView):
    """The tools that models may request."""

    @extend_schema(operation_id="llm_tools_list", responses={200: ToolListOutput})
    def get(self, request: Request) -> Response:
        """List the tools with the schemas of their parameters, for the prompt of a model."""
        return Response(render_tools(list(tool_registry()), self.access))


class ParseView(HubView):
    """The requests in the output of a model."""

    needed_permission = Permission.READ
    body_limit = staticmethod(document_limit)

    @extend_schema(operation_id="llm_tools_parse", request=ToolTextInput, responses={200: ParseOutput})
    def post(self, request: Request) -> Response:
        """Find the tool requests in the output of a model. Runs nothing."""
        data = validate(ToolTextInput, request.data)
        mode = ProtocolMode(data["mode"])
        return Response(render_parsed(output_parse(text=data["text"], mode=mode), mode))


class ExecuteView(HubView):
    """The requests in the output of a model, executed. Each tool needs its own permission."""

    needed_permission = Permission.READ
    body_limit = staticmethod(document_limit)

    @extend_schema(operation_id="llm_tools_execute", request=ToolCallInput, responses={200: ExecuteOutput})
    def post(self, request: Request) -> Response:
        """Find the tool request in the output of a model and run it with the rights of this key.

        A call of a tool as OpenAI or Anthropic has it (`tool_use`, `function`, `function_call`) is taken as it is.
        Errors in the model's request are reported in `results`, with 200.
        """
        data = validate(ToolCallInput, request.data)
        mode = ProtocolMode(data["mode"])
        executed = output_execute(access=self.access, text=data["text"], mode=mode)
        return Response(render_executed(executed, mode))
