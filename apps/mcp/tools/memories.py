"""Tools of MCP that write: a memory, a change of one, an event. The key says whose; the address, of which project."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import Access, Permission
from apps.llm.domain.tools import Tool, object_schema
from apps.llm.services import checked_parameters, tool_registry
from apps.mcp.domain.answers import Json
from apps.mcp.schemas import CorrectionInput
from apps.mcp.tools.answers import answer, say_save
from apps.semantic.services import MemoryEdit, memory_delete, memory_reinforce, memory_update

SHARE = {"type": "number", "minimum": 0, "maximum": 1}
MOMENT = {"type": "string", "description": "ISO 8601 with offset, e.g. 2026-03-04T10:00:00Z"}
CORRECTED = {
    "updated": "Corrected: memory {id} has the new text.",
    "skipped": "Nothing changed: memory {id} says this already.",
}


def save(access: Access, parameters: Mapping[str, Any]) -> Json:
    """Save a fact, and say what became of it."""
    return say_save(tool_registry()["memory_save"].handler(access, parameters), {})


def update(access: Access, parameters: Mapping[str, Any]) -> Json:
    """Correct, forget or reinforce the memory with an id."""
    uuid, content = read_id(parameters["id"]), parameters.get("content")
    if parameters["action"] == "correct":
        if content is None:
            raise InvalidInputError("To correct a memory, send its whole new text.", attr="content", code="required")
        fields = checked_parameters(CorrectionInput, {"content": content})
        result = memory_update(access=access, uuid=uuid, edit=MemoryEdit(fields))
        saved = {
            "memory": {"id": str(result.memory.uuid), "content": result.memory.content},
            "action": str(result.action),
            "reason": result.reason,
            "conflict": str(result.conflict) if result.conflict else None,
        }
        return say_save(saved, CORRECTED)
    if content is not None:
        detail = "Only the action correct takes content; leave it out, or correct the memory."
        raise InvalidInputError(detail, attr="content")
    if parameters["action"] == "forget":
        memory_delete(access=access, uuid=uuid)
        return answer(
            f"Forgotten: nothing finds memory {uuid} now. A person can restore it.", changed=True, id=str(uuid)
        )
    memory = memory_reinforce(access=access, uuid=uuid)
    confidence = round(memory.confidence_at(utcnow(SYSTEM_CLOCK)), 3)
    text = f"Reinforced: memory {uuid} counts as confirmed now."
    return answer(text, changed=True, id=str(uuid), confidence=confidence)


def read_id(text: str) -> UUID:
    """Return the id that a model has copied. Raises InvalidInputError."""
    try:
        return UUID(text.strip().strip("[]()<>`\"' "))
    except ValueError:
        raise InvalidInputError("Not an id of a memory: copy one from an answer of query or save.", attr="id") from None


def record(access: Access, parameters: Mapping[str, Any]) -> Json:
    """Record an event, now and as a note unless the model says otherwise."""
    filled = {"event_type": "note", "timestamp": utcnow(SYSTEM_CLOCK).isoformat(), **parameters}
    recorded = tool_registry()["event_record"].handler(access, filled)
    event, is_new = recorded["event"], recorded["action"] == "recorded"
    text = f"Recorded as {event['id']}." if is_new else f"Nothing changed: event {event['id']} is recorded already."
    return answer(text, changed=is_new, id=event["id"], timestamp=event["timestamp"], event_type=event["event_type"])


SAVE = Tool(
    name="save",
    description=(
        "Save one fact that should be known in later conversations: a preference, a decision, a person, a plan. Use it "
        "when the user states such a fact or asks you to remember. Not for what happened (record), and not for text "
        "that query returned. Saving again what is known changes nothing."
    ),
    permission=Permission.WRITE,
    handler=save,
    aliases={"text": "content", "fact": "content", "memory": "content"},
    parameters=object_schema(
        {
            "content": {"type": "string", "minLength": 1, "description": "One fact, as a whole sentence with names."},
            "type": {"type": "string", "maxLength": 200, "description": "e.g. preference, decision"},
            "importance": {**SHARE, "description": "Default 0.5"},
            "confidence": {**SHARE, "description": "How sure you are. Default 1"},
            "keywords": {"type": "array", "items": {"type": "string"}, "maxItems": 50},
            "occurred_at": MOMENT,
            "expires_at": {"type": "string", "description": "When it stops to hold, likewise"},
        },
        required=("content",),
    ),
)

UPDATE = Tool(
    name="update",
    description=(
        "Change one memory by its id, from query. correct: replace a wrong or outdated text. forget: when "
        "the user wants it gone. reinforce: the user confirmed it."
    ),
    permission=Permission.WRITE,
    handler=update,
    aliases={"memory_id": "id", "text": "content"},
    parameters=object_schema(
        {
            "id": {"type": "string", "maxLength": 100},
            "action": {"type": "string", "enum": ["correct", "forget", "reinforce"]},
            "content": {"type": "string", "minLength": 1, "description": "For correct: the whole new text"},
        },
        required=("id", "action"),
    ),
)

RECORD = Tool(
    name="record",
    description=(
        "Record something that happened, with its time: a meeting, a message, a step of work. Use it for a log of "
        "events; use save for facts that hold."
    ),
    permission=Permission.WRITE,
    handler=record,
    aliases={"text": "content", "event": "content"},
    parameters=object_schema(
        {
            "content": {"type": "string", "minLength": 1, "description": "What happened, as one sentence."},
            "timestamp": {**MOMENT, "description": f"{MOMENT['description']}. Default: now"},
            "event_type": {"type": "string", "description": "One word, e.g. meeting. Default: note"},
            "importance": SHARE,
        },
        required=("content",),
    ),
)
