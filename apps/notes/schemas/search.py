"""Inputs and outputs of searches in notes, and of the prompt that is composed of them (spec 001)."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, TypedDict

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.schemas.fields import StrictBooleanField, StrictIntegerField, VisibleTextField
from apps.core.schemas.origins import OriginName
from apps.core.schemas.windows import TimezoneField
from apps.notes.domain.prompt import LONG_TERM, MEMORIES, PAST_CONTEXT, RECENT_DAYS, WISHES, LeftOut, Section
from apps.notes.domain.prompt_main import Passage
from apps.notes.domain.search import NoteSearch, NoteSearchMode
from apps.notes.index.upkeep import NoteIndexStatus
from apps.notes.schemas.notes import OwnerInput

MAX_QUERY_CHARS = 2_000
DEFAULT_LIMIT, MAX_LIMIT, MAX_TOOL_HITS = 10, 50, 10
MODES = [(mode.value, mode.value) for mode in NoteSearchMode]
MAX_MESSAGE_CHARS = 10_000
DEFAULT_BUDGET, MIN_BUDGET, MAX_BUDGET = 4_000, 200, 100_000
SECTIONS = [WISHES, LONG_TERM, RECENT_DAYS, PAST_CONTEXT, MEMORIES]


class SearchMemoryInput(OwnerInput):
    """A question to the notes of a user."""

    aliases: ClassVar[Mapping[str, str]] = {"q": "query"}
    query = VisibleTextField(max_length=MAX_QUERY_CHARS, help_text="Words to find, in any language.")


class NoteSearchInput(OwnerInput):
    """The query string of a search in notes."""

    aliases: ClassVar[Mapping[str, str]] = {"query": "q", "top_k": "limit"}
    q = VisibleTextField(max_length=MAX_QUERY_CHARS, help_text="Words to find, in any language.")
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MAX_LIMIT, default=DEFAULT_LIMIT)


class NoteHitOutput(TypedDict):
    """A range of lines of a note."""

    path: str
    first_line: Annotated[int, "Lines count from 1."]
    last_line: int
    heading: Annotated[str, "The headings above the lines, such as `Plans > March`."]
    text: str
    score: Annotated[float, "0 to 1."]
    vector_score: Annotated[float | None, "The cosine. Null if the text has no vector, or vectors are not used."]
    bm25_score: Annotated[float | None, "BM25, as a share of the best that a text could have for this query."]


class NoteSearchOutput(TypedDict):
    """The best hits, as the files are now."""

    results: list[NoteHitOutput]
    count: int
    mode: Annotated[str, serializers.ChoiceField(choices=MODES)]
    reason: Annotated[str, "Why vectors are not used; empty if they are."]
    vectors_missing: Annotated[int, "Texts that have no vector yet, and are found only by their words."]


class NoteStatusOutput(TypedDict):
    """The index of a user's notes, as the files are now."""

    mode: Annotated[str, serializers.ChoiceField(choices=MODES)]
    reason: Annotated[str, "Why vectors are not used; empty if they are."]
    is_watched: Annotated[bool, "Whether a process of the hub watches the files and indexes changes by itself."]
    files: int
    chunks: int
    vectors_missing: int
    skipped: Annotated[dict[str, int], "Files that are left out, by reason, such as too_large or hard_link."]
    looked_at: Annotated[str | None, extend_schema_field(serializers.DateTimeField(allow_null=True))]


def search_json(found: NoteSearch) -> NoteSearchOutput:
    """Return the answer to a search as the API shows it."""
    hits: list[NoteHitOutput] = [
        {
            "path": hit.path,
            "first_line": hit.first_line,
            "last_line": hit.last_line,
            "heading": hit.heading,
            "text": hit.text,
            "score": hit.score,
            "vector_score": hit.vector_score,
            "bm25_score": hit.bm25_score,
        }
        for hit in found.hits
    ]
    return {
        "results": hits,
        "count": len(hits),
        "mode": found.mode.value,
        "reason": found.reason,
        "vectors_missing": found.vectors_missing,
    }


def status_json(status: NoteIndexStatus) -> NoteStatusOutput:
    """Return the status of an index as the API shows it."""
    return {
        "mode": status.mode.value,
        "reason": status.reason,
        "is_watched": status.is_watched,
        "files": status.files,
        "chunks": status.chunks,
        "vectors_missing": status.vectors_missing,
        "skipped": dict(status.skipped),
        "looked_at": None if status.looked_at is None else status.looked_at.isoformat(),
    }


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


def section_json(section: Section) -> PromptSectionOutput:
    """Return a section as the API shows it."""
    return {
        "title": section.title,
        "tokens": section.tokens,
        "is_whole": section.is_whole,
        "items": [origin_json(each) for each in section.passages],
    }
