"""The tools for memories: save, search and reinforce, under the access of the caller.

Schemas and checks come from the serializers of the REST calls, so a tool takes nothing that REST refuses.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Access, Permission
from apps.llm.domain.tools import Tool, object_schema
from apps.llm.services import checked_parameters, tool_parameters
from apps.semantic import services
from apps.semantic.schemas.memories import MemoryInput, MemoryOutput, SaveOutput, make_draft, render_memory, render_save
from apps.semantic.schemas.search import AUTO, SearchInput, SearchOutput, make_query, render_search

_UUID = r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"


def save_memory(access: Access, parameters: Mapping[str, Any]) -> SaveOutput:
    """Save a memory."""
    draft, now = make_draft(checked_parameters(MemoryInput, parameters)), utcnow(SYSTEM_CLOCK)
    return render_save(services.memory_save(access=access, draft=draft), now)


def search_memories(access: Access, parameters: Mapping[str, Any]) -> SearchOutput:
    """Find memories, the best first; what is relevant and in force, unless the model asks for more."""
    query = make_query(checked_parameters(SearchInput, {"in_force": True, "min_relevance": AUTO, **parameters}))
    return render_search(services.memory_search(access, query), utcnow(SYSTEM_CLOCK), query.explain)


def reinforce_memory(access: Access, parameters: Mapping[str, Any]) -> MemoryOutput:
    """Restart the decay of a memory."""
    now = utcnow(SYSTEM_CLOCK)
    return render_memory(services.memory_reinforce(access=access, uuid=UUID(parameters["id"])), now)


MEMORY_SAVE = Tool(
    name="memory_save",
    description="Save a fact worth remembering. The same content in the same scope is stored once.",
    permission=Permission.WRITE,
    handler=save_memory,
    parameters=tool_parameters(
        MemoryInput,
        exclude=("embedding",),
        descriptions={
            "content": "The fact, as one sentence.",
            "confidence": "How sure you are, 0 to 1. Default 1.0.",
            "source": "Who says so: user, conversation, skill, system, inferred, or your own word.",
        },
    ),
)

MEMORY_SEARCH = Tool(
    name="memory_search",
    description="Find memories by meaning and by words, best match first; nothing if nothing is relevant.",
    permission=Permission.READ,
    handler=search_memories,
    parameters=tool_parameters(
        SearchInput,
        required=("query",),
        exclude=("embedding",),
        descriptions={
            "in_force": (
                "Only decisions and rules that are in force. Default true; false gives what they replaced, too."
            ),
            "min_relevance": "0 to 1. Without it weak matches are left out; 0 gives them, too.",
        },
    ),
)

MEMORY_REINFORCE = Tool(
    name="memory_reinforce",
    description="Confirm that a reinforceable memory is still true: its decay restarts.",
    permission=Permission.WRITE,
    handler=reinforce_memory,
    parameters=object_schema({"id": {"type": "string", "pattern": _UUID}}, required=("id",)),
)
