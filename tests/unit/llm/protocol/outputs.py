"""Pieces of model output that tests put together."""

from typing import Any

from apps.llm.domain.protocol.parser import parse_output
from apps.llm.domain.protocol.results import ParsedOutput, ToolRequest

SAVE = "[[ABP_TOOL:memory_save]]"
SEARCH = "[[ABP_TOOL:memory_search]]"
WIPE = "[[ABP_TOOL:wipe]]"
END = "[[END_ABP_TOOL]]"
VCP = "<<<[TOOL_REQUEST]>>>"
VCP_END = "<<<[END_TOOL_REQUEST]>>>"


def abp(name: str, body: str) -> str:
    """A block on lines of its own."""
    return f"[[ABP_TOOL:{name}]]\n{body}\n{END}"


def vcp(name: str, **pairs: str) -> str:
    """A VCP block."""
    lines = [f"{key}:「始」{value}「末」," for key, value in {"tool_name": name, **pairs}.items()]
    return "\n".join([VCP, *lines, VCP_END])


def the_request(text: str, **options: Any) -> ToolRequest:
    """The one request of an output."""
    [request] = parse_output(text, **options).requests
    return request


def refusals(parsed: ParsedOutput) -> list[str]:
    """Why markers and blocks were refused, in order."""
    return [str(refusal.code) for refusal in parsed.refused]
