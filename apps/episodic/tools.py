"""The tools for the timeline: record and query events, under the access of the caller.

Schemas and checks come from the serializers of the REST calls, so a tool takes nothing that REST refuses.
"""

from collections.abc import Mapping
from typing import Any

from apps.core.domain.scope import Access, Permission
from apps.episodic.domain.event import EVENT_TYPE_HINT
from apps.episodic.schemas.events import EventInput, draft_of, record_json
from apps.episodic.schemas.queries import EventQueryInput, query_json, query_of
from apps.episodic.selectors import events_query
from apps.episodic.services import event_record
from apps.llm.domain.tools import Json, Tool
from apps.llm.services import checked_parameters, tool_parameters


def record_event(access: Access, parameters: Mapping[str, Any]) -> Json:
    """Record the event that a model describes."""
    draft = draft_of(checked_parameters(EventInput, parameters))
    return {**record_json(event_record(access=access, draft=draft))}


def query_events(access: Access, parameters: Mapping[str, Any]) -> Json:
    """Answer the query that a model asks."""
    query = query_of(checked_parameters(EventQueryInput, parameters))
    return {**query_json(access, events_query(access, query, is_answer=True), query.explain)}


EVENT_RECORD = Tool(
    name="event_record",
    description="Record something that happened, at its time. The same event in the same scope is kept once.",
    permission=Permission.WRITE,
    handler=record_event,
    parameters=tool_parameters(
        EventInput,
        descriptions={
            "timestamp": "When it happened.",
            "event_type": f"What kind of event it is: {EVENT_TYPE_HINT}.",
            "content": "What happened, as one sentence.",
        },
    ),
)

EVENT_QUERY = Tool(
    name="event_query",
    description="Find what happened in a period: the newest events, or the ones that match a query.",
    permission=Permission.READ,
    handler=query_events,
    parameters=tool_parameters(EventQueryInput),
)
