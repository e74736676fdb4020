"""Inputs and outputs of the API for tools: their list, the requests in a model's output, and the results."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, TypedDict

from rest_framework import serializers

from apps.core.domain.scope import Access, Permission
from apps.core.schemas.fields import StrictCharField, StrictChoiceField
from apps.core.schemas.outputs import JSONObject, render
from apps.core.schemas.serializers import ProblemItem, StrictSerializer
from apps.llm.domain.protocol.results import (
    Fix,
    ParsedOutput,
    Protocol,
    ProtocolMode,
    RefusalReason,
)
from apps.llm.domain.tools import Tool, ToolOutcome
from apps.llm.tools.requests import ExecutedOutput

MAX_OUTPUT_CHARS = 100_000
PERMISSIONS = [permission.value for permission in Permission]
# The kinds of items by which providers say that a model calls a tool.
CALL_TYPES = ("tool_use", "function", "function_call")
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
PROTOCOLS = [protocol.value for protocol in Protocol if protocol is not Protocol.MCP]
BLOCK_PROTOCOLS = [Protocol.ABP.value, Protocol.VCP.value]
FALLBACKS = [Protocol.VCP.value, Protocol.TEXT.value]
MODES = [mode.value for mode in ProtocolMode]
TOOL_OUTCOMES = [outcome.value for outcome in ToolOutcome]
BlockProtocol = Annotated[str, serializers.ChoiceField(choices=BLOCK_PROTOCOLS)]
OutcomeWord = Annotated[str, serializers.ChoiceField(choices=TOOL_OUTCOMES)]


class ToolOutput(TypedDict):
    """A tool that models may request."""

    name: str
    description: str
    parameters: Annotated[JSONObject, "A JSON Schema (draft 2020-12)."]
    permission: Annotated[str, serializers.ChoiceField(choices=PERMISSIONS)]
    allowed: Annotated[bool, "This key has the permission."]


class ToolListOutput(TypedDict):
    """The tools of this hub."""

    results: list[ToolOutput]
    count: int


def render_tools(tools: Sequence[Tool], access: Access) -> ToolListOutput:
    """Return the answer that lists tools for a caller."""
    results: list[ToolOutput] = [
        render(ToolOutput, tool, parameters=dict(tool.parameters), allowed=access.allows(tool.permission))
        for tool in tools
    ]
    return {"results": results, "count": len(results)}


class ToolTextInput(StrictSerializer):
    """The output of a model. A blank one is valid, too: it requests nothing."""

    text = StrictCharField(
        max_length=MAX_OUTPUT_CHARS, allow_blank=True, trim_whitespace=False, help_text="The output, unchanged."
    )
    mode = StrictChoiceField(
        choices=MODES,
        default=ProtocolMode.DUAL.value,
        help_text="The protocols to look for. Default: dual, which means ABP first, then VCP if there is none.",
    )


class ToolCallInput(ToolTextInput):
    """The output of a model, or one call of a tool as the APIs of OpenAI and Anthropic have it, as it is."""

    def to_internal_value(self, data: Any) -> Any:
        return super().to_internal_value(text_of_call(data) or data)


def text_of_call(data: Any) -> dict[str, str] | None:
    """Return a call of a tool as the output of a model that makes it; None for anything else.

    Anthropic: `tool_use` with `name` and `input`. OpenAI: `function` with `name` and `arguments`, a text, or an item of
    its Responses API, `function_call`. What else they have, such as ids, says nothing here.
    """
    if not isinstance(data, Mapping):
        return None
    call = data.get("function") if data.get("type") == "function" else data
    if not isinstance(call, Mapping) or data.get("type") not in CALL_TYPES:
        return None
    name, given = call.get("name"), call.get("input", call.get("arguments"))
    if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name) or not isinstance(given, Mapping | str):
        return None
    parameters = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return {"text": f"[[ABP_TOOL:{name}]]{parameters or '{}'}"}


class BlockOutput(TypedDict):
    """Something in the output that is a request, or looks like one."""

    protocol: BlockProtocol
    span: Annotated[
        list[int],
        serializers.ListField(child=serializers.IntegerField(), min_length=2, max_length=2),
        "Its place in the output: [start, end).",
    ]


class ToolRequestOutput(BlockOutput):
    """A tool that is requested."""

    name: str
    parameters: Annotated[JSONObject, "As the model wrote them; every VCP value is text."]
    fixes: Annotated[
        list[str],
        serializers.ListField(child=serializers.ChoiceField(choices=[fix.value for fix in Fix])),
        "What was repaired or stripped.",
    ]
    truncated: Annotated[
        list[str],
        serializers.ListField(child=serializers.CharField()),
        "Dotted paths of parameters that end where the output was cut. Tools that write refuse them.",
    ]


class RefusedBlockOutput(BlockOutput):
    """A block or marker that is ignored."""

    name: str | None
    code: Annotated[str, serializers.ChoiceField(choices=[reason.value for reason in RefusalReason])]
    detail: str


class ParseOutput(TypedDict):
    """What the output of a model requests."""

    protocol: Annotated[str, serializers.ChoiceField(choices=PROTOCOLS), "How a tool was requested; text: none was."]
    mode: Annotated[str, serializers.ChoiceField(choices=MODES)]
    fallback: Annotated[
        str | None,
        serializers.ChoiceField(choices=FALLBACKS, allow_null=True),
        "What was used instead of the preferred protocol.",
    ]
    requests: Annotated[list[ToolRequestOutput], "At most one: if there are several blocks, the last valid one counts."]
    refused: list[RefusedBlockOutput]
    refused_count: Annotated[int, "Lists at most 100 entries of `refused`."]
    text: Annotated[str, "The output without its blocks; all of it if no tool is requested."]


class ToolResultOutput(TypedDict):
    """The result of a request."""

    name: str
    protocol: BlockProtocol
    outcome: OutcomeWord
    value: Annotated[Any, serializers.JSONField(allow_null=True), "The answer of the tool, once it is done."]
    problems: Annotated[list[dict[str, Any]], ProblemItem(many=True), "Why it was not done."]
    retryable: Annotated[bool, "Whether the same request may succeed later."]
    retry_after: Annotated[int | None, "After how many seconds to try again."]


class ExecuteOutput(ParseOutput):
    """What the output of a model requested, and the results."""

    results: Annotated[list[ToolResultOutput], "In the order of `requests`."]


def render_parsed(parsed: ParsedOutput, mode: ProtocolMode) -> ParseOutput:
    """Return the answer for a parsed output."""
    return {
        "protocol": parsed.protocol.value,
        "mode": mode.value,
        "fallback": parsed.fallback.value if parsed.fallback else None,
        "requests": [
            render(
                ToolRequestOutput,
                request,
                parameters=dict(request.parameters),
                fixes=[fix.value for fix in request.fixes],
                span=list(request.span),
            )
            for request in parsed.requests
        ],
        "refused": [render(RefusedBlockOutput, refused, span=list(refused.span)) for refused in parsed.refused],
        "refused_count": parsed.refused_count,
        "text": parsed.text,
    }


def render_executed(executed: ExecutedOutput, mode: ProtocolMode) -> ExecuteOutput:
    """Return the answer for an executed output."""
    return {
        **render_parsed(executed.parsed, mode),
        "results": [
            render(ToolResultOutput, result, problems=[asdict(one) for one in result.problems])
            for result in executed.results
        ],
    }
