"""Calls of tools, by the executor that runs what models request, under the access of a key."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError

from apps.core.domain.errors import ForbiddenError
from apps.core.domain.scope import IDENTIFIERS, Access, Scope
from apps.core.request_id import current_request_id
from apps.llm.domain.protocol.results import Protocol, ToolRequest
from apps.llm.domain.tools import Tool, ToolOutcome, ToolRegistry, ToolResult
from apps.llm.services import tool_run
from apps.mcp.domain.answers import CallAnswer
from apps.mcp.domain.lenient import read_leniently
from apps.mcp.tools import context, memories, notes, reading

logger = logging.getLogger(__name__)

# In the order in which clients list them.
TOOLS = (context.CONTEXT, memories.SAVE, memories.UPDATE, memories.RECORD, reading.QUERY)
NOTES = (notes.READ_MEMORY, notes.APPEND_MEMORY, notes.SEARCH_MEMORY, notes.APPEND_DAILY_LOG)
# Those of a project are found by, and saved with, the project that the address of the client names.
OF_A_PROJECT = {"context", "save", "query"}
NO_ONE = (
    "MCP acts for one person: use a key that is bound to a user, or name one in MEMORYHUB_DEFAULT_USER. A model never "
    "chooses whose memory it is."
)
NOT_BY_ARGUMENT = "The key says whose memory it is, and the address which project; leave these out."


@dataclass(frozen=True)
class Caller:
    """Who calls: what its key allows, for one person, and the project that its address names."""

    access: Access
    project: str = ""


@cache
def mcp_tools() -> ToolRegistry:
    """Return the tools that MCP offers."""
    return ToolRegistry([*TOOLS, *NOTES])


def access_of_person(access: Access) -> Access:
    """Return the access of a key for one person: its user, or the default user. Raises ForbiddenError without one."""
    if access.bound.user_id is not None:
        return access
    default = settings.MEMORYHUB.default_user
    bound = access.bound.intersect(Scope(default)) if default else None
    if bound is None or bound.user_id is None:
        raise ForbiddenError(NO_ONE, code="no_user")
    return replace(access, bound=bound, reads=())


def offered_tools(access: Access) -> list[Tool]:
    """Return the tools that a key may use: those of notes only where it sees the whole person."""
    is_part = bool(access.bound.ends())
    return [tool for tool in mcp_tools().allowed(access) if not (is_part and tool in NOTES)]


def tool_call(caller: Caller, name: str, arguments: Mapping[str, Any]) -> CallAnswer:
    """Run a tool, and answer with what a model can act on. Nothing that a model sends raises."""
    tools = mcp_tools()
    schema = tools[name].parameters if name in tools else {}
    given: dict[str, Any] = {"project": caller.project} if caller.project and name in OF_A_PROJECT else {}
    try:
        named = tools[name].named(arguments) if name in tools else arguments
        request = ToolRequest(Protocol.MCP, name, read_leniently(named, schema), (0, 0))
        result = tool_run(tools=tools, access=caller.access, request=request, given=given)
    except (OperationalError, InterfaceError) as error:
        logger.warning("database unavailable: %s", type(error).__name__)
        return CallAnswer("The database cannot be reached. Nothing was changed. Try again in 2 seconds.", is_error=True)
    except Exception:
        logger.exception("a tool of MCP failed")
        detail = f"Something went wrong. The hub's log has the details under request {current_request_id()}."
        return CallAnswer(detail, is_error=True)
    if result.is_done and result.value is not None:
        return CallAnswer(result.value["said"], result.value["data"])
    return explain_refusal(result, list(schema.get("properties", ())))


def explain_refusal(result: ToolResult, known: list[str]) -> CallAnswer:
    """Return why a tool did not run, as an error that says what would be right. known: the parameters of the tool."""
    sentences = [f"{one.attr}: {one.detail}" if one.attr else one.detail for one in result.problems]
    unknown = {one.attr for one in result.problems if one.code == "unknown_parameter"}
    if unknown:
        sentences.append(f"Known are: {', '.join(known) or 'none'}.")
    if unknown & {*IDENTIFIERS, "project", "include"}:
        sentences.append(NOT_BY_ARGUMENT)
    if result.retry_after is not None:
        sentences.append(f"Try again in {result.retry_after} seconds.")
    elif result.outcome is not ToolOutcome.UNKNOWN_TOOL:
        sentences.append("Nothing was changed.")
    problems = [{"code": one.code, "detail": one.detail, "attr": one.attr} for one in result.problems]
    data = {"outcome": result.outcome.value, "problems": problems, "retry_after": result.retry_after}
    return CallAnswer(" ".join(sentences), data, is_error=True)
