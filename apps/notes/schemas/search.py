"""Inputs and outputs of searches in notes (spec 001, search API)."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, TypedDict

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.schemas.fields import VisibleTextField
from apps.core.schemas.outputs import render
from apps.notes.domain.search import NoteSearch, NoteSearchMode
from apps.notes.index.upkeep import NoteIndexStatus
from apps.notes.schemas.notes import OwnerInput

MAX_QUERY_CHARS = 2_000
DEFAULT_LIMIT, MAX_LIMIT, MAX_TOOL_HITS = 10, 50, 10
MODES = [(mode.value, mode.value) for mode in NoteSearchMode]


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
    hits = [render(NoteHitOutput, hit) for hit in found.hits]
    return render(NoteSearchOutput, found, results=hits, count=len(hits))


def status_json(status: NoteIndexStatus) -> NoteStatusOutput:
    """Return the status of an index as the API shows it."""
    looked_at = None if status.looked_at is None else status.looked_at.isoformat()
    return render(NoteStatusOutput, status, looked_at=looked_at)
