"""Inputs and outputs of the API for recording events."""

from typing import Annotated, Any, NotRequired, TypedDict

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.schemas.batches import ItemsField, items_schema
from apps.core.schemas.fields import (
    JSONObjectField,
    OffsetDateTimeField,
    StrictCharField,
    StrictFloatField,
    VisibleTextField,
)
from apps.core.schemas.origins import OriginName, written_origin
from apps.core.schemas.outputs import JSONObject, Moment, Uuid, render
from apps.core.schemas.serializers import ProblemItem, ScopeInput, StrictSerializer, scope_of
from apps.episodic.domain.event import (
    DEFAULT_IMPORTANCE,
    EVENT_TYPE_HINT,
    EVENT_TYPE_PATTERN,
    MAX_EVENT_TYPE_CHARS,
    MAX_SOURCE_CHARS,
    EventDraft,
    EventRecord,
)
from apps.episodic.recording.record import RecordAction, RecordResult

RECORD_ACTIONS = tuple(action.value for action in RecordAction)
RecordActionName = Annotated[str, serializers.ChoiceField(choices=RECORD_ACTIONS)]


class EventTypeField(serializers.RegexField):
    """The type of an event, a word for programs."""

    default_error_messages = {"invalid": f"Expected {EVENT_TYPE_HINT}."}

    def __init__(self, **kwargs: Any) -> None:
        options = {"max_length": MAX_EVENT_TYPE_CHARS, "trim_whitespace": False, **kwargs}
        super().__init__(EVENT_TYPE_PATTERN, **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class EventInput(ScopeInput):
    """Something that happened. The user may come from the key or the configuration."""

    timestamp = OffsetDateTimeField(
        help_text="When it happened; at most a day ahead of the hub's clock. Its offset is kept."
    )
    event_type = EventTypeField(help_text="What kind of event it is: `message`, `chat.message`, `order:paid`, ...")
    content = VisibleTextField(max_length=settings.MEMORYHUB.max_content_chars, help_text="Kept as it is.")
    importance = StrictFloatField(
        required=False, allow_null=True, min_value=0, max_value=1, help_text="How much it matters. Default 0.5."
    )
    source = StrictCharField(
        required=False,
        max_length=MAX_SOURCE_CHARS,
        help_text="user, conversation, skill, system, inferred, or a word of your own. Default: user.",
    )
    origin = written_origin()
    metadata = JSONObjectField(required=False, help_text="Your own JSON object, returned unchanged.")


def draft_of(data: dict[str, Any]) -> EventDraft:
    """Return the draft that validated EventInput describes."""
    names = ("timestamp", "event_type", "content", "source", "metadata", "origin")
    importance = data.get("importance")
    return EventDraft(
        scope=scope_of(data),
        importance=DEFAULT_IMPORTANCE if importance is None else importance,
        **{name: data[name] for name in names if name in data},
    )


@extend_schema_field(items_schema("EventInputRequest"))
class EventsField(ItemsField):
    """Events that are checked one by one, later."""

    things = "events"


class EventBatchInput(StrictSerializer):
    """Events to be recorded together."""

    events = EventsField()


class EventOutput(TypedDict):
    """An event."""

    id: Uuid
    user_id: str
    household_id: str | None
    persona_id: str | None
    timestamp: Annotated[Moment, "When it happened, in the offset of its writer."]
    event_type: str
    content: str
    importance: float
    source: str
    origin: OriginName
    metadata: JSONObject
    recorded_at: Annotated[Moment, "When the hub recorded it."]


class RecordOutput(TypedDict):
    """What recording did."""

    action: RecordActionName
    event: Annotated[EventOutput, "The event as it is stored; for a duplicate, as it was first recorded."]


class EventBatchItemOutput(TypedDict):
    """The answer for one item: as in recording one, or `errors`."""

    status: Annotated[int, "The HTTP status you would get if you recorded it alone."]
    action: NotRequired[RecordActionName]
    event: NotRequired[EventOutput]
    type: NotRequired[str]
    errors: NotRequired[Annotated[list[dict[str, Any]], ProblemItem(many=True)]]


class EventBatchOutput(TypedDict):
    """One answer per item, in order."""

    results: list[EventBatchItemOutput]
    count: int


class LineProblemOutput(TypedDict):
    """What is wrong with a line."""

    line: Annotated[int, "Counted from 1, blank lines included."]
    code: str
    detail: str
    attr: Annotated[str | None, "The field; null if the whole line is at fault."]


class EventImportOutput(TypedDict):
    """What an import did: lines = recorded + duplicates + failed."""

    lines: Annotated[int, "Lines that are not blank."]
    recorded: int
    duplicates: Annotated[int, "Already recorded, or repeated in the same body."]
    failed: int
    errors: Annotated[list[LineProblemOutput], "The lines that failed; at most the first 1,000."]


def event_json(record: EventRecord) -> EventOutput:
    """Return the answer that describes an event."""
    return render(
        EventOutput,
        record,
        user_id=record.key.user_id,
        household_id=record.key.household_id or None,
        persona_id=record.key.persona_id or None,
        origin=record.origin.value,
    )


def record_json(result: RecordResult) -> RecordOutput:
    """Return the answer that reports a recording."""
    return {"action": result.action.value, "event": event_json(result.record)}
