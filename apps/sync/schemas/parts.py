"""Input and output of reading the text of an item in parts, as models do."""

from typing import Annotated, TypedDict

from rest_framework import serializers

from apps.core.schemas.fields import StrictCharField, StrictIntegerField
from apps.core.schemas.outputs import Uuid, render
from apps.core.schemas.serializers import StrictSerializer
from apps.sync.models import MAX_ITEM_ID_CHARS, MAX_NAME_CHARS, ItemStatusChoices, ItemTypeChoices, KnowledgeItem
from apps.sync.sources.texts import ItemText

DEFAULT_CHARS = 20_000
MAX_CHARS = 100_000
REFERENCE_PREFIX = "Ref:"


class KnowledgeReadInput(StrictSerializer):
    """Which item to read, and which part of its text."""

    item = StrictCharField(
        max_length=MAX_NAME_CHARS + MAX_ITEM_ID_CHARS + 10,
        help_text="`metadata.item` of a memory in the results, or its reference: <source>/<id>.",
    )
    offset = StrictIntegerField(required=False, default=0, min_value=0, help_text="Start at this character.")
    limit = StrictIntegerField(
        required=False,
        default=DEFAULT_CHARS,
        min_value=1,
        max_value=MAX_CHARS,
        help_text="The most characters to return.",
    )


class KnowledgeReadOutput(TypedDict):
    """A part of the text of an item."""

    id: Uuid
    reference: str
    type: Annotated[str, serializers.ChoiceField(choices=ItemTypeChoices.choices)]
    title: str
    status: Annotated[str, serializers.ChoiceField(choices=ItemStatusChoices.choices)]
    superseded_by: list[str]
    commit: str
    offset: int
    total_chars: int
    next_offset: Annotated[int | None, "Where the next part starts; null at the end."]
    text: str


def reading_json(item: KnowledgeItem, content: ItemText, offset: int, limit: int) -> KnowledgeReadOutput:
    """Return a part of the text of an item as models get it. offset, limit: in characters."""
    end = min(offset + limit, len(content.text))
    return render(
        KnowledgeReadOutput,
        item,
        reference=f"{item.source.name}/{item.item_id}",
        commit=content.commit,
        offset=offset,
        total_chars=len(content.text),
        next_offset=end if end < len(content.text) else None,
        text=content.text[offset:end],
    )
