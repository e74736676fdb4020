"""The tools of this hub, from the table that `settings.TOOLS` names."""

from collections.abc import Sequence
from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from apps.core.domain.scope import Access
from apps.llm.domain.protocol.results import ToolRequest
from apps.llm.domain.tools import Tool, ToolRegistry, ToolResult


@cache
def tool_registry() -> ToolRegistry:
    """Return the tools in the table. Raises ImportError or ToolError when the table is wrong."""
    paths: Sequence[str] = import_string(settings.TOOLS)
    tools: list[Tool] = [import_string(path) for path in paths]
    return ToolRegistry(tools)


def tool_execute(*, access: Access, request: ToolRequest) -> ToolResult:
    """Run a tool for a caller; whatever is wrong with the request is part of the answer."""
    return tool_registry().execute(access, request)
