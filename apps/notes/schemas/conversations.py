"""Inputs and outputs of conversations (spec 001, automatic extraction)."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypedDict

from django.conf import settings
from rest_framework import serializers

from apps.core.schemas.bodies import BodyLimit, make_limit
from apps.core.schemas.fields import (
    IdentifierField,
    OffsetDateTimeField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictFloatField,
    StrictIntegerField,
    VisibleTextField,
)
from apps.core.schemas.outputs import Moment, Uuid, iso, render
from apps.core.schemas.paging import cursor_field, limit_field
from apps.core.schemas.serializers import StrictSerializer
from apps.notes.conversations.events import EventAnswer, EventDraft
from apps.notes.conversations.messages import AddedMessage, MessageDraft
from apps.notes.domain.conversation import EventType, SkipReason
from apps.notes.models import Conversation, ConversationMessage, MessageRole
from apps.notes.schemas.notes import ADDED_OR_KNOWN, OwnerInput

MAX_MESSAGES = 100
MAX_RECALLED = 100
# Of all messages of a request together, about; one alone may be as long as a memory.
MAX_REQUEST_CHARS = 1_000_000
# As of events: it allows for wrong clocks.
MAX_AHEAD = timedelta(days=1)
MAX_TOKENS = 1_000_000_000
EVENT_TYPES = tuple(kind.value for kind in EventType)
EVENT_ACTIONS = ("extracting", "flushing", "skipped", "noted")
SKIP_REASONS = tuple(reason.value for reason in SkipReason)
# What each event says; a field of another one is refused.
USAGE_FIELDS = ("tokens_used", "token_limit", "ratio")


class MessageInput(StrictSerializer):
    """A message of a conversation."""

    role = StrictChoiceField(choices=MessageRole.choices)
    content = VisibleTextField(max_length=settings.MEMORYHUB.max_content_chars, help_text="Kept as it is.")
    message_id = IdentifierField(
        required=False, help_text="Your own id: sending it again in this conversation adds nothing."
    )
    speaker = StrictCharField(
        required=False, allow_blank=True, max_length=200, help_text="The name of the speaker, in a group."
    )
    at = OffsetDateTimeField(
        required=False,
        allow_null=True,
        help_text="When it was said. Words such as tomorrow are read in its offset. Default: now, in UTC.",
    )
    recalled = StrictBooleanField(
        required=False,
        default=False,
        help_text="The assistant was given this text from memory: it is not learnt again.",
    )

    def validate_at(self, at: datetime | None) -> datetime | None:
        """Refuse a time that is more than a day ahead."""
        if at is not None and at > datetime.now(UTC) + MAX_AHEAD:
            problem = "This is in the future: a message may be at most a day ahead of the hub's clock."
            raise serializers.ValidationError(problem, code="in_the_future")
        return at


class MessagesInput(OwnerInput):
    """Messages to add to a conversation."""

    messages = MessageInput(many=True, required=False, max_length=MAX_MESSAGES)  # type: ignore[call-arg]
    recalled = serializers.ListField(
        child=VisibleTextField(max_length=settings.MEMORYHUB.max_content_chars),
        required=False,
        max_length=MAX_RECALLED,
        help_text="Texts that the assistant was given from memory for this turn: they are not learnt again.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a request with nothing to add."""
        if not attrs.get("messages") and not attrs.get("recalled"):
            raise serializers.ValidationError({"messages": ["Send at least one message."]}, code="required")
        return attrs


class SessionEventInput(OwnerInput):
    """What happened to a conversation."""

    type = StrictChoiceField(choices=EVENT_TYPES)
    tokens_used = StrictIntegerField(required=False, min_value=0, max_value=MAX_TOKENS)
    token_limit = StrictIntegerField(required=False, min_value=1, max_value=MAX_TOKENS)
    ratio = StrictFloatField(
        required=False, min_value=0, max_value=10, help_text="Share of the context that is used, instead of tokens."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a usage that says nothing, and a usage in any other event."""
        named = [name for name in USAGE_FIELDS if name in attrs]
        if attrs["type"] == EventType.USAGE:
            if "ratio" not in attrs and not {"tokens_used", "token_limit"} <= attrs.keys():
                problem = "Send how much of the context is used: `tokens_used` and `token_limit`, or `ratio`."
                raise serializers.ValidationError({"tokens_used": [problem]}, code="required")
        elif named:
            raise serializers.ValidationError(
                {named[0]: [f"Only {EventType.USAGE.value} takes this field."]}, code="invalid"
            )
        return attrs


class ConversationListInput(OwnerInput):
    """The query string of the list of conversations."""

    limit = limit_field()
    cursor = cursor_field()


class ConversationOutput(TypedDict):
    """A conversation."""

    id: Uuid
    session_id: str
    messages: Annotated[int, "How many messages came in, not counting recalled texts."]
    new_messages: Annotated[int, "Messages from which nothing has been extracted yet."]
    created_at: Moment
    last_message_at: Moment | None
    last_extraction_at: Moment | None
    ended_at: Moment | None
    context_use: Annotated[float | None, "The share of the context that is used, as last reported."]
    cycle: Annotated[int, "Rises with each compaction of the context."]
    flushed: Annotated[bool, "Whether facts were flushed in this cycle."]


class MessageOutput(TypedDict):
    """A message of a conversation, or a text that was recalled for it."""

    id: Uuid
    message_id: str
    number: int
    role: Annotated[str, serializers.ChoiceField(choices=MessageRole.choices)]
    speaker: str
    content: Annotated[str | None, "null once it is deleted."]
    at: Moment
    recalled: bool
    run: Annotated[str | None, serializers.UUIDField(allow_null=True), "The run that extracts from it."]


class ConversationDetailOutput(ConversationOutput):
    """A conversation with its latest messages, the last one last."""

    latest_messages: list[MessageOutput]


class AddedMessageOutput(TypedDict):
    """What became of a message."""

    id: Uuid
    message_id: str
    number: int
    action: Annotated[str, serializers.ChoiceField(choices=ADDED_OR_KNOWN), "known: it came in before."]


class MessagesOutput(TypedDict):
    """What became of messages, in their order."""

    conversation: ConversationOutput
    results: list[AddedMessageOutput]


class SessionEventOutput(TypedDict):
    """What an event led to."""

    action: Annotated[str, serializers.ChoiceField(choices=EVENT_ACTIONS)]
    reason: Annotated[
        str | None, serializers.ChoiceField(choices=SKIP_REASONS, allow_null=True), "Why nothing is extracted."
    ]
    next_at: Annotated[Moment | None, "When an extraction is possible again."]
    missing_messages: Annotated[int, "How many more messages it needs."]
    runs: list[Uuid]
    conversation: ConversationOutput


def messages_limit() -> BodyLimit:
    """Return the limit of a request with messages."""
    return make_limit(chars=MAX_REQUEST_CHARS)


def message_drafts(data: dict[str, Any]) -> list[MessageDraft]:
    """Return the drafts that validated MessagesInput describes."""
    return [
        MessageDraft(
            role=each["role"],
            content=each["content"],
            caller_id=each.get("message_id", ""),
            speaker=each.get("speaker", ""),
            at=each.get("at"),
            recalled=each["recalled"],
        )
        for each in data.get("messages", [])
    ]


def event_draft(data: dict[str, Any]) -> EventDraft:
    """Return the event that validated SessionEventInput describes."""
    used, limit = data.get("tokens_used"), data.get("token_limit")
    share = used / limit if used is not None and limit else None
    return EventDraft(EventType(data["type"]), used, limit, data.get("ratio", share))


def conversation_json(conversation: Conversation, new_messages: int) -> ConversationOutput:
    """Return a conversation as the API shows it."""
    return render(
        ConversationOutput,
        conversation,
        new_messages=new_messages,
        flushed=conversation.flushed_cycle >= conversation.cycle,
    )


def message_json(message: ConversationMessage) -> MessageOutput:
    """Return a message as the API shows it."""
    return render(
        MessageOutput,
        message,
        message_id=message.caller_id,
        content=None if message.cleared_at else message.content,
        run=str(message.run.uuid) if message.run else None,
    )


def detail_json(
    conversation: Conversation, new_messages: int, latest: Iterable[ConversationMessage]
) -> ConversationDetailOutput:
    """Return a conversation with messages as the API shows it."""
    shown = conversation_json(conversation, new_messages)
    return {**shown, "latest_messages": [message_json(message) for message in latest]}


def added_json(added: AddedMessage) -> AddedMessageOutput:
    """Return what became of a message as the API shows it."""
    message = added.message
    return {
        "id": str(message.uuid),
        "message_id": message.caller_id,
        "number": message.number,
        "action": "added" if added.is_new else "known",
    }


def event_json(answer: EventAnswer, new_messages: int) -> SessionEventOutput:
    """Return what an event led to as the API shows it."""
    decision = answer.decision
    return {
        "action": "skipped" if decision and decision.reason else answer.outcome,
        "reason": decision.reason.value if decision and decision.reason else None,
        "next_at": iso(decision.next_at) if decision else None,
        "missing_messages": decision.missing_messages if decision else 0,
        "runs": [str(run.uuid) for run in answer.runs],
        "conversation": conversation_json(answer.conversation, new_messages),
    }
