"""What requests to the timeline may hold."""

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.schemas.batches import ItemsField, items_schema
from apps.core.schemas.fields import (
    AwareDateTimeField,
    JSONObjectField,
    StrictCharField,
    StrictChoiceField,
    StrictFloatField,
    VisibleTextField,
)
from apps.core.schemas.serializers import ScopeInput, StrictSerializer, scope_of
from apps.episodic.domain.event import DEFAULT_IMPORTANCE, MAX_EVENT_TYPE_CHARS, MAX_SOURCE_CHARS, EventDraft
from apps.episodic.domain.rules import EVENT_TYPE_HINT, EVENT_TYPE_PATTERN
from apps.episodic.models.segment import SegmentStateChoices

DEFAULT_PAGE = 100
MAX_PAGE = 500
_UUID = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"


class EventTypeField(serializers.RegexField):
    """The type of an event, a word for programs."""

    default_error_messages = {"invalid": f"Expected {EVENT_TYPE_HINT}."}

    def __init__(self, **kwargs: Any) -> None:
        given = {"max_length": MAX_EVENT_TYPE_CHARS, "trim_whitespace": False, **kwargs}
        super().__init__(EVENT_TYPE_PATTERN, **given)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class EventInput(ScopeInput):
    """Something that happened. The user may come from the key or the configuration."""

    timestamp = AwareDateTimeField(help_text="When it happened; at most a day ahead of the hub's clock.")
    event_type = EventTypeField(help_text="What kind of event it is: `message`, `chat.message`, `order:paid`, ...")
    content = VisibleTextField(max_length=settings.MEMORYHUB.max_content_chars, help_text="Kept as it is.")
    importance = StrictFloatField(
        required=False, allow_null=True, min_value=0, max_value=1, help_text="How much it matters. Default 0.5."
    )
    source = StrictCharField(
        required=False,
        max_length=MAX_SOURCE_CHARS,
        help_text="user, conversation, skill, system, inferred, or your own word. Default user.",
    )
    metadata = JSONObjectField(required=False, help_text="Anything of yours; returned as it is.")


def draft_of(data: dict[str, Any]) -> EventDraft:
    """The draft that validated EventInput describes."""
    given = {name: data[name] for name in ("timestamp", "event_type", "content", "source", "metadata") if name in data}
    importance = data.get("importance")
    return EventDraft(
        scope=scope_of(data), importance=DEFAULT_IMPORTANCE if importance is None else importance, **given
    )


@extend_schema_field(items_schema("EventInputRequest"))
class EventsField(ItemsField):
    """Events that are checked one by one, later."""

    things = "events"


class EventBatchInput(StrictSerializer):
    """Events to be recorded together."""

    events = EventsField()


class SegmentListInput(StrictSerializer):
    """The query string of the list of segments."""

    state = StrictChoiceField(choices=SegmentStateChoices.choices, required=False)
    limit = serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_PAGE, default=DEFAULT_PAGE, help_text=f"Default {DEFAULT_PAGE}."
    )
    cursor = serializers.RegexField(_UUID, required=False, help_text="From `next`.")
