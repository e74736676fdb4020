"""What a model may do with memories: save, search and reinforce, under the access of the caller it speaks to.

The schemas tell a model what it can give. Parameters are then checked by the same serializers as requests over REST,
so a tool takes nothing that REST refuses.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Access, Permission
from apps.llm.domain.tools import MOMENT, SCOPE, UNIT, Json, Tool, object_schema
from apps.llm.services import checked_parameters
from apps.retrieval.domain.query import DEFAULT_TOP_K, MAX_TOP_K, SearchMode
from apps.semantic import services
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.models import MAX_TAG_CHARS
from apps.semantic.schemas.memories import (
    MAX_DAYS,
    MAX_QUERY_CHARS,
    MemoryInput,
    SearchInput,
    make_draft,
    make_query,
    render_memory,
    render_save,
    render_search,
)
from apps.semantic.search.search import memory_search

_UUID = r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
_TAGS = {
    **{
        name: {"type": "string", "maxLength": MAX_TAG_CHARS}
        for name in ("agent", "personality", "project", "type", "session_id")
    },
    "global": {"type": "boolean"},
}


def _save(access: Access, parameters: Mapping[str, Any]) -> Json:
    draft = make_draft(checked_parameters(MemoryInput, parameters))
    return render_save(services.memory_save(access=access, draft=draft), utcnow(SYSTEM_CLOCK))


def _search(access: Access, parameters: Mapping[str, Any]) -> Json:
    query = make_query(checked_parameters(SearchInput, parameters))
    return render_search(memory_search(access, query), utcnow(SYSTEM_CLOCK), query.explain)


def _reinforce(access: Access, parameters: Mapping[str, Any]) -> Json:
    memory = services.memory_reinforce(access=access, uuid=UUID(parameters["id"]))
    return render_memory(memory, utcnow(SYSTEM_CLOCK))


MEMORY_SAVE = Tool(
    name="memory_save",
    description="Save a fact worth remembering. The same content in the same scope is stored once.",
    permission=Permission.WRITE,
    handler=_save,
    parameters=object_schema(
        {
            "content": {"type": "string", "minLength": 1, "description": "The fact, as one sentence."},
            **SCOPE,
            **_TAGS,
            "decay_policy": {"type": "string", "enum": [policy.value for policy in DecayPolicy]},
            "importance": {**UNIT, "description": "How much it matters. Default 0.5."},
            "confidence": {**UNIT, "description": "How sure you are. Default 1."},
            "keywords": {"type": "array", "maxItems": 50, "items": {"type": "string", "maxLength": 100}},
            "source": {"type": "string", "maxLength": 64},
            "occurred_at": MOMENT,
            "context": {"type": "string", "description": "Circumstances, findable too."},
            "metadata": {"type": "object"},
        },
        required=("content",),
    ),
)

MEMORY_SEARCH = Tool(
    name="memory_search",
    description="Find memories by meaning and by words, the best first.",
    permission=Permission.READ,
    handler=_search,
    parameters=object_schema(
        {
            "query": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY_CHARS},
            **SCOPE,
            **_TAGS,
            "top_k": {"type": "integer", "minimum": 1, "maximum": MAX_TOP_K, "default": DEFAULT_TOP_K},
            "min_similarity": {"type": "number", "minimum": -1, "maximum": 1},
            "min_confidence": UNIT,
            "last_days": {"type": "number", "minimum": 0, "maximum": MAX_DAYS},
            "time_window": object_schema({"from": MOMENT, "to": MOMENT}, required=()),
            "source": {"type": "string", "maxLength": 64},
            "mode": {"type": "string", "enum": [mode.value for mode in SearchMode]},
            "explain": {"type": "boolean"},
        },
        required=("query",),
    ),
)

MEMORY_REINFORCE = Tool(
    name="memory_reinforce",
    description="Say that a reinforceable memory still holds: its decay starts anew.",
    permission=Permission.WRITE,
    handler=_reinforce,
    parameters=object_schema({"id": {"type": "string", "pattern": _UUID}}, required=("id",)),
)
