"""Inputs and outputs of contexts."""

from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

from rest_framework import serializers

from apps.context.building.again import GivenContext
from apps.context.domain.context import (
    DEFAULT_TOKENS,
    MAX_TOKENS,
    MIN_TOKENS,
    Context,
    ContextItem,
    ContextQuery,
    ItemKind,
)
from apps.core.run_name import MAX_RUN_CHARS
from apps.core.schemas.fields import AwareDateTimeField, OwnersField, StrictCharField, StrictIntegerField
from apps.core.schemas.origins import OriginName
from apps.core.schemas.outputs import Moment, Uuid, iso, render
from apps.core.schemas.serializers import ScopeInput, scope_of
from apps.given.domain import given

MAX_MESSAGE_CHARS = 10_000
MAX_TAG_CHARS = 200
KINDS = [(kind.value, kind.value) for kind in ItemKind]
GIVEN_KINDS = [(kind.value, kind.value) for kind in given.ItemKind]


class ContextInput(ScopeInput):
    """A message or a task, and how much an assistant may be told about it."""

    aliases = {"task": "message", "query": "message", "budget_tokens": "max_tokens"}
    message = StrictCharField(
        required=False,
        allow_blank=True,
        max_length=MAX_MESSAGE_CHARS,
        help_text="What the person says or wants done. Without it: what matters whatever is asked.",
    )
    max_tokens = StrictIntegerField(
        default=DEFAULT_TOKENS,
        min_value=MIN_TOKENS,
        max_value=MAX_TOKENS,
        help_text="The most tokens that `text` may have, by a careful estimate.",
    )
    as_of = AwareDateTimeField(
        required=False, allow_null=True, help_text="Judge everything as of this moment, and leave out what came later."
    )
    project = StrictCharField(
        required=False, max_length=MAX_TAG_CHARS, help_text="Leave out memories of other projects."
    )
    agent = StrictCharField(required=False, max_length=MAX_TAG_CHARS, help_text="Leave out memories of other agents.")
    personality = StrictCharField(
        required=False, max_length=MAX_TAG_CHARS, help_text="Leave out memories of other personalities."
    )
    include = OwnersField(help_text="Owners to read besides the scope, such as team:platform.")
    run_id = StrictCharField(
        required=False,
        max_length=MAX_RUN_CHARS,
        help_text="How you call this run, for the log of what was given; otherwise the header X-MemoryHub-Run.",
    )


def make_context_query(data: Mapping[str, Any]) -> ContextQuery:
    """Return the question that validated ContextInput describes."""
    return ContextQuery(
        scope=scope_of(data),
        message=data.get("message", "").strip(),
        max_tokens=data["max_tokens"],
        as_of=data.get("as_of"),
        project=data.get("project", ""),
        agent=data.get("agent", ""),
        personality=data.get("personality", ""),
        include=tuple(data.get("include", ())),
    )


# `with` is a keyword of Python.
ItemConflict = TypedDict(
    "ItemConflict",
    {"id": Annotated[Uuid, "The receipt."], "with": Annotated[Uuid | None, "The other memory."]},
)


class NoteLinesOutput(TypedDict):
    """Lines of a note."""

    path: str
    first_line: int
    last_line: int


class ContextItemOutput(TypedDict):
    """Something that an assistant should know."""

    id: Annotated[str, "Of a memory or an event; of lines of a note `path#Lfirst-Llast`."]
    kind: Annotated[str, serializers.ChoiceField(choices=KINDS)]
    text: str
    is_cut: Annotated[bool, "Whether the text goes on."]
    date: Annotated[Moment | None, "When it happened, or was saved."]
    user_id: str
    why: Annotated[str, "Why it is here."]
    origin: Annotated[OriginName | None, "Null for a note, which has several writers."]
    importance: float | None
    confidence: float | None
    note: NoteLinesOutput | None
    conflict: Annotated[ItemConflict | None, "An open conflict that concerns it."]
    replaced_by: Annotated[Uuid | None, "The memory by which the rules replaced it; nobody has accepted it yet."]
    tokens: int


class LeftOutOutput(TypedDict):
    """How many were left out, by the reason."""

    budget: Annotated[int, "There was no room."]
    duplicate: Annotated[int, "Another item says it."]
    irrelevant: Annotated[int, "Found, but does not speak of the message."]
    ended: Annotated[int, "Knowledge that is not in force."]


class ContextOutput(TypedDict):
    """What an assistant should know."""

    id: Annotated[Uuid, "Of this answer."]
    as_of: Moment
    text: Annotated[str, "All items for a model; empty if there are none."]
    tokens: Annotated[int, "Of `text`."]
    items: list[ContextItemOutput]
    count: int
    left_out: LeftOutOutput
    sentence: Annotated[str, "Says that nothing is known of the message; otherwise empty."]
    problems: Annotated[list[str], "What could not be read, or was not put in order by the reranker."]


class GivenItemOutput(TypedDict):
    """Something that a context had."""

    id: Annotated[str, "Of a memory or an event; of lines of a note `path#Lfirst-Llast`."]
    kind: Annotated[str, serializers.ChoiceField(choices=GIVEN_KINDS)]
    user_id: str


class GivenContextOutput(TypedDict):
    """What a context had given."""

    id: Uuid
    at: Moment
    app: Annotated[str, "The name of the key that got it."]
    run_id: Annotated[str, "As its caller named the run; otherwise empty."]
    items: list[GivenItemOutput]
    count: int


def given_json(context: GivenContext) -> GivenContextOutput:
    """Return what a context had given as the API shows it."""
    items: list[GivenItemOutput] = [
        {"id": one.id, "kind": one.kind.value, "user_id": one.user_id} for one in context.items
    ]
    return render(GivenContextOutput, context, id=str(context.id), items=items, count=len(items))


def item_json(item: ContextItem) -> ContextItemOutput:
    """Return an item as the API shows it."""
    one = item.source
    note: NoteLinesOutput | None = None
    if one.path:
        note = {"path": one.path, "first_line": one.first_line, "last_line": one.last_line}
    other = str(one.conflict_with) if one.conflict_with else None
    return {
        "id": one.id,
        "kind": one.kind.value,
        "text": item.text,
        "is_cut": item.is_cut,
        "date": iso(one.date),
        "user_id": one.user_id,
        "why": one.why,
        "origin": one.origin.value if one.origin else None,
        "importance": one.importance,
        "confidence": one.confidence,
        "note": note,
        "conflict": {"id": str(one.conflict), "with": other} if one.conflict else None,
        "replaced_by": str(one.replaced_by) if one.replaced_by else None,
        "tokens": item.tokens,
    }


def context_json(context: Context) -> ContextOutput:
    """Return a context as the API shows it."""
    left_out: Any = {reason.value: count for reason, count in context.left_out.items()}
    return {
        "id": str(context.id),
        "as_of": iso(context.as_of),
        "text": context.text,
        "tokens": context.tokens,
        "items": [item_json(item) for item in context.items],
        "count": len(context.items),
        "left_out": left_out,
        "sentence": context.sentence,
        "problems": list(context.problems),
    }
