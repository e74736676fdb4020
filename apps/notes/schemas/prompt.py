"""Inputs and outputs of the prompt of notes (spec 001, prompt)."""

from typing import Annotated, Any, TypedDict

from rest_framework import serializers

from apps.core.schemas.fields import StrictBooleanField, StrictIntegerField, VisibleTextField
from apps.core.schemas.origins import OriginName
from apps.core.schemas.windows import TimezoneField
from apps.notes.domain.prompt import (
    LONG_TERM,
    MEMORIES,
    PAST_CONTEXT,
    RECENT_DAYS,
    WISHES,
    LeftOut,
    PromptSection,
)
from apps.notes.domain.prompt_main import Passage
from apps.notes.schemas.notes import OwnerInput
from apps.notes.selectors import ComposedPrompt

MAX_MESSAGE_CHARS = 10_000
DEFAULT_BUDGET, MIN_BUDGET, MAX_BUDGET = 4_000, 200, 100_000
DEFAULT_LIMIT, MAX_LIMIT = 10, 50
SECTIONS = [WISHES, LONG_TERM, RECENT_DAYS, PAST_CONTEXT, MEMORIES]


class PromptInput(OwnerInput):
    """What the person asks now, and how much a model may be shown."""

    message = VisibleTextField(
        required=False,
        max_length=MAX_MESSAGE_CHARS,
        help_text="What to search for. Without it, only MEMORY.md is included.",
    )
    budget_tokens = StrictIntegerField(
        default=DEFAULT_BUDGET,
        min_value=MIN_BUDGET,
        max_value=MAX_BUDGET,
        help_text="The most tokens that the whole text may have.",
    )
    limit = StrictIntegerField(
        default=DEFAULT_LIMIT, min_value=0, max_value=MAX_LIMIT, help_text="Of passages, and of memories."
    )
    include_daily = StrictBooleanField(
        default=True, help_text="Whether to include the logs of today and yesterday, and to search the others."
    )
    timezone = TimezoneField(help_text="Whose today, as an IANA name such as Europe/Oslo. Default: UTC.")
    include_memories = StrictBooleanField(default=False, help_text="Whether semantic memory is searched as well.")


class PromptPassageOutput(TypedDict):
    """Where something in the prompt comes from: lines of a note, or a memory."""

    path: str | None
    first_line: int | None
    last_line: int | None
    memory_id: str | None
    origin: Annotated[OriginName | None, "The origin of a memory; null for a note, which has several writers."]


class PromptSectionOutput(TypedDict):
    """A section of the prompt."""

    title: Annotated[str, serializers.ChoiceField(choices=SECTIONS)]
    tokens: int
    is_whole: Annotated[bool, "Whether it is complete."]
    items: list[PromptPassageOutput]


class PromptLeftOutOutput(PromptPassageOutput):
    """Something that is not in the prompt."""

    reason: Annotated[str, serializers.ChoiceField(choices=["budget"])]


class PromptSearchOutput(TypedDict):
    """How the notes were searched."""

    mode: Annotated[str, serializers.ChoiceField(choices=["hybrid", "keyword", "none"]), "none: not searched."]
    reason: Annotated[str, "Why it was not searched, or was searched without vectors; otherwise empty."]


class PromptOutput(TypedDict):
    """A text for a system prompt, and what is in it."""

    text: Annotated[str, "Empty if nothing is known, or nothing fits."]
    tokens: Annotated[int, "Estimated number of tokens in the text."]
    sections: list[PromptSectionOutput]
    left_out: list[PromptLeftOutOutput]
    search: PromptSearchOutput


def origin_json(origin: Passage | LeftOut) -> PromptPassageOutput:
    """Return where something comes from as the API shows it."""
    is_note = not origin.memory
    return {
        "path": origin.path if is_note else None,
        "first_line": origin.first_line if is_note else None,
        "last_line": origin.last_line if is_note else None,
        "memory_id": origin.memory or None,
        "origin": origin.origin.value if origin.origin else None,
    }


def section_json(section: PromptSection) -> PromptSectionOutput:
    """Return a section as the API shows it."""
    return {
        "title": section.title,
        "tokens": section.tokens,
        "is_whole": section.is_whole,
        "items": [origin_json(each) for each in section.passages],
    }


def prompt_json(composed: ComposedPrompt) -> PromptOutput:
    """Return a prompt as the API shows it."""
    prompt = composed.prompt
    left_out: list[Any] = [{**origin_json(each), "reason": each.reason} for each in prompt.left_out]
    return {
        "text": prompt.text,
        "tokens": prompt.tokens,
        "sections": [section_json(each) for each in prompt.sections],
        "left_out": left_out,
        "search": {"mode": composed.mode, "reason": composed.reason},
    }
