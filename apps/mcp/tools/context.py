"""The tool of MCP that asks what an assistant should know, in one call."""

from collections.abc import Mapping
from typing import Any

from apps.context.domain.context import ContextQuery, Reason
from apps.context.services import context_build
from apps.core.domain.scope import Access, Permission, Scope
from apps.llm.domain.tools import Tool, object_schema
from apps.mcp.domain.answers import DEFAULT_TOKENS, Json
from apps.mcp.tools.answers import answer
from apps.mcp.tools.reading import TOKENS


def context(access: Access, parameters: Mapping[str, Any]) -> Json:
    """Return what is known of the person for a message, within a number of tokens."""
    query = ContextQuery(
        scope=Scope(access.bound.user_id),
        message=parameters.get("message", ""),
        max_tokens=parameters.get("max_tokens", DEFAULT_TOKENS),
        project=parameters.get("project", ""),
    )
    built = context_build(access=access, query=query)
    items = [
        {
            "id": one.source.id,
            "kind": one.source.kind.value,
            "text": one.text,
            "why": one.source.why,
            "disputed": one.source.conflict is not None,
            "replaced": one.source.replaced_by is not None,
        }
        for one in built.items
    ]
    left_out = {reason.value: count for reason, count in built.left_out.items() if count}
    more = f"{left_out[Reason.BUDGET]} more did not fit: raise max_tokens." if Reason.BUDGET in left_out else ""
    parts = [built.text.rstrip(), built.sentence, more, *built.problems]
    said = "\n\n".join(part for part in parts if part) or "Nothing is known of the user yet."
    return answer(said, id=str(built.id), items=items, count=len(items), left_out=left_out)


CONTEXT = Tool(
    name="context",
    description=(
        "What is known of the user for a message or a task: wishes, facts, memories, notes and recent events in one "
        "answer. Call it once at the start of a task, with what the user said. Where it says that nothing is known, do "
        "not search again."
    ),
    permission=Permission.READ,
    handler=context,
    aliases={"query": "message", "task": "message", "text": "message"},
    parameters=object_schema(
        {
            "message": {"type": "string", "maxLength": 10_000, "description": "What the user said, or the task"},
            "max_tokens": TOKENS,
        },
        required=(),
    ),
)
