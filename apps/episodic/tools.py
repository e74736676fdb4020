"""What a model may do with the timeline: record and query events, under the access of the caller it speaks to.

As with the tools of memories, parameters are checked by the same serializers as requests over REST.
"""

from collections.abc import Mapping
from typing import Any

from apps.core.domain.scope import Access, Permission
from apps.episodic.domain.event import MAX_EVENT_TYPE_CHARS, MAX_SOURCE_CHARS
from apps.episodic.domain.rules import EVENT_TYPE_HINT, EVENT_TYPE_PATTERN
from apps.episodic.domain.window import DEFAULT_TOP_K, MAX_EVENT_TYPES, MAX_TOP_K
from apps.episodic.queries.query import events_query
from apps.episodic.recording.record import event_record
from apps.episodic.schemas.event_outputs import record_json
from apps.episodic.schemas.events import EventInput, draft_of
from apps.episodic.schemas.queries import MAX_DAYS, MAX_QUERY_CHARS, EventQueryInput, query_of
from apps.episodic.schemas.query_outputs import query_json
from apps.llm.domain.tools import MOMENT, SCOPE, UNIT, Json, Tool, object_schema
from apps.llm.services import checked_parameters
from apps.retrieval.domain.query import SearchMode

_EVENT_TYPE: Json = {"type": "string", "pattern": EVENT_TYPE_PATTERN, "maxLength": MAX_EVENT_TYPE_CHARS}


def _record(access: Access, parameters: Mapping[str, Any]) -> Json:
    draft = draft_of(checked_parameters(EventInput, parameters))
    return record_json(event_record(access=access, draft=draft))


def _query(access: Access, parameters: Mapping[str, Any]) -> Json:
    query = query_of(checked_parameters(EventQueryInput, parameters))
    return query_json(access, events_query(access, query), query.explain)


EVENT_RECORD = Tool(
    name="event_record",
    description="Record something that happened, at its time. The same event in the same scope is kept once.",
    permission=Permission.WRITE,
    handler=_record,
    parameters=object_schema(
        {
            "timestamp": {**MOMENT, "description": f"When it happened. {MOMENT['description']}"},
            "event_type": {**_EVENT_TYPE, "description": f"What kind of event it is: {EVENT_TYPE_HINT}."},
            "content": {"type": "string", "minLength": 1, "description": "What happened, as one sentence."},
            **SCOPE,
            "importance": {**UNIT, "description": "How much it matters. Default 0.5."},
            "source": {"type": "string", "maxLength": MAX_SOURCE_CHARS},
            "metadata": {"type": "object"},
        },
        required=("timestamp", "event_type", "content"),
    ),
)

EVENT_QUERY = Tool(
    name="event_query",
    description="Find what happened in a span of time: the newest events, or those that a query is about.",
    permission=Permission.READ,
    handler=_query,
    parameters=object_schema(
        {
            "from": {**MOMENT, "description": f"Included. {MOMENT['description']}"},
            "to": {**MOMENT, "description": f"Included. {MOMENT['description']}"},
            "last_days": {
                "type": "number", "minimum": 0, "maximum": MAX_DAYS, "description": "Instead of from and to."
            },
            **SCOPE,
            "event_types": {"type": "array", "minItems": 1, "maxItems": MAX_EVENT_TYPES, "items": _EVENT_TYPE},
            "top_k": {"type": "integer", "minimum": 1, "maximum": MAX_TOP_K, "default": DEFAULT_TOP_K},
            "query": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY_CHARS},
            "mode": {"type": "string", "enum": [mode.value for mode in SearchMode]},
            "explain": {"type": "boolean"},
        },
        required=(),
    ),
)  # fmt: skip
