"""Tools over REST (DESIGN section 5, spec 000 "ABP tool request parsing")."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.scope import Permission
from apps.core.rest.views import HubView
from apps.core.schemas.serializers import validate
from apps.llm.schemas import tool_inputs, tool_outputs
from apps.llm.tools import requests


class ParseView(HubView):
    """What a model asks for."""

    needed_permission = Permission.READ

    @extend_schema(
        operation_id="llm_tools_parse", request=tool_inputs.ToolTextInput, responses={200: tool_outputs.ParseOutput}
    )
    def post(self, request: Request) -> Response:
        """Find the tool requests in the output of a model. Runs nothing."""
        data = validate(tool_inputs.ToolTextInput, request.data)
        mode = tool_inputs.mode_of(data)
        return Response(tool_outputs.parsed_json(requests.output_parse(text=data["text"], mode=mode), mode))


class ExecuteView(HubView):
    """What a model asks for, done. Each tool asks for the permission that it needs."""

    needed_permission = Permission.READ

    @extend_schema(
        operation_id="llm_tools_execute", request=tool_inputs.ToolTextInput, responses={200: tool_outputs.ExecuteOutput}
    )
    def post(self, request: Request) -> Response:
        """Find the tool request in the output of a model and run it with the rights of this key.

        Whatever is wrong with what the model asks for is answered in `results`, with 200.
        """
        data = validate(tool_inputs.ToolTextInput, request.data)
        mode = tool_inputs.mode_of(data)
        executed = requests.output_execute(access=self.access, text=data["text"], mode=mode)
        return Response(tool_outputs.executed_json(executed, mode))
