"""What answers about tools look like: shapes for the OpenAPI document, and plain functions that fill them."""

from typing import Any

from rest_framework import serializers

from apps.core.schemas.fields import JSONObjectField
from apps.core.schemas.serializers import ProblemItem
from apps.llm.domain.protocol.results import (
    Fix,
    ParsedOutput,
    Protocol,
    ProtocolMode,
    RefusalReason,
    RefusedBlock,
    ToolRequest,
)
from apps.llm.domain.tools import ToolOutcome, ToolResult
from apps.llm.tools.requests import ExecutedOutput

AnySerializer = serializers.Serializer[Any]
PROTOCOLS = [protocol.value for protocol in Protocol]
BLOCK_PROTOCOLS = [Protocol.ABP.value, Protocol.VCP.value]
FALLBACKS = [Protocol.VCP.value, Protocol.TEXT.value]
MODES = [mode.value for mode in ProtocolMode]
TOOL_OUTCOMES = [outcome.value for outcome in ToolOutcome]


class BlockOutput(AnySerializer):
    """Something in the output that is a request, or looks like one."""

    protocol = serializers.ChoiceField(choices=BLOCK_PROTOCOLS)
    span = serializers.ListField(
        child=serializers.IntegerField(), min_length=2, max_length=2, help_text="Where it stands: [start, end)."
    )


class ToolRequestOutput(BlockOutput):
    """A tool that is asked for."""

    name = serializers.CharField()
    parameters = JSONObjectField(help_text="As they were given; every VCP value is text.")
    fixes = serializers.ListField(
        child=serializers.ChoiceField(choices=[fix.value for fix in Fix]),
        help_text="What was repaired or stripped on the way.",
    )


class RefusedBlockOutput(BlockOutput):
    """A block or marker that is not acted upon."""

    name = serializers.CharField(allow_null=True)
    code = serializers.ChoiceField(choices=[code.value for code in RefusalReason])
    detail = serializers.CharField()


class ParseOutput(AnySerializer):
    """What the output of a model asks for."""

    protocol = serializers.ChoiceField(choices=PROTOCOLS, help_text="How a tool was asked for; text: none was.")
    mode = serializers.ChoiceField(choices=MODES)
    fallback = serializers.ChoiceField(
        choices=FALLBACKS, allow_null=True, help_text="What answered instead of the protocol that goes first."
    )
    requests = ToolRequestOutput(many=True, help_text="At most one: of several blocks the last valid one counts.")
    refused = RefusedBlockOutput(many=True)
    refused_count = serializers.IntegerField(help_text="Of `refused`, at most 100 are listed.")
    text = serializers.CharField(
        allow_blank=True, help_text="The output without its blocks; all of it when nothing is asked for."
    )


class ToolResultOutput(AnySerializer):
    """What became of a request."""

    name = serializers.CharField()
    protocol = serializers.ChoiceField(choices=BLOCK_PROTOCOLS)
    outcome = serializers.ChoiceField(choices=TOOL_OUTCOMES)
    value = serializers.JSONField(allow_null=True, help_text="What the tool answered, when it is done.")
    problems = ProblemItem(many=True, help_text="Why it is not done.")
    retryable = serializers.BooleanField(help_text="Whether the same request may succeed later.")
    retry_after = serializers.IntegerField(allow_null=True, help_text="In so many seconds.")


class ExecuteOutput(ParseOutput):
    """What the output of a model asked for, and what became of it."""

    results = ToolResultOutput(many=True, help_text="In the order of `requests`.")


def parsed_json(parsed: ParsedOutput, mode: ProtocolMode) -> dict[str, Any]:
    """An output as ParseOutput describes it."""
    return {
        "protocol": parsed.protocol.value,
        "mode": mode.value,
        "fallback": parsed.fallback.value if parsed.fallback else None,
        "requests": [_request_json(request) for request in parsed.requests],
        "refused": [_refusal_json(refusal) for refusal in parsed.refused],
        "refused_count": parsed.refused_count,
        "text": parsed.text,
    }


def executed_json(executed: ExecutedOutput, mode: ProtocolMode) -> dict[str, Any]:
    """An executed output as ExecuteOutput describes it."""
    return {**parsed_json(executed.parsed, mode), "results": [_result_json(result) for result in executed.results]}


def _request_json(request: ToolRequest) -> dict[str, Any]:
    return {
        "protocol": request.protocol.value,
        "name": request.name,
        "parameters": dict(request.parameters),
        "fixes": [fix.value for fix in request.fixes],
        "span": list(request.span),
    }


def _refusal_json(refusal: RefusedBlock) -> dict[str, Any]:
    return {
        "protocol": refusal.protocol.value,
        "name": refusal.name,
        "code": refusal.code.value,
        "detail": refusal.detail,
        "span": list(refusal.span),
    }


def _result_json(result: ToolResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "protocol": result.protocol.value,
        "outcome": result.outcome.value,
        "value": result.value,
        "problems": [
            {"code": problem.code, "detail": problem.detail, "attr": problem.attr} for problem in result.problems
        ],
        "retryable": result.retryable,
        "retry_after": result.retry_after,
    }
