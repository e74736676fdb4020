"""Read files of memories and of questions: JSON Lines, or LoCoMo conversations (docs/reference/file-formats.md)."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from rest_framework import serializers
from rest_framework.exceptions import ParseError, ValidationError

from apps.core.schemas.fields import IdentifierField, OffsetDateTimeField, VisibleTextField
from apps.core.schemas.parsers import StrictJSONParser
from apps.core.schemas.serializers import validate
from apps.semantic.domain.locomo import (
    LocomoError,
    Question,
    is_locomo,
    locomo_questions,
    locomo_turns,
    sample_name,
    turn_fields,
)
from apps.semantic.imports.importer import BadLine, Item, PlacedDraft
from apps.semantic.schemas.memories import MemoryInput, make_draft
from apps.semantic.schemas.search import MAX_QUERY_CHARS

T = TypeVar("T")


class UnreadableFileError(Exception):
    """The file cannot be used; the text says why and what would be right."""


class UnusableError(Exception):
    """One line or turn cannot be used; the text says why."""


class QuestionInput(serializers.Serializer[Any]):
    """A question of an evaluation. Other members are ignored."""

    user_id = IdentifierField()
    question = VisibleTextField(max_length=MAX_QUERY_CHARS)
    evidence = serializers.ListField(child=serializers.CharField(trim_whitespace=False))
    category = serializers.CharField(required=False, allow_blank=True, default="")
    asked_at = OffsetDateTimeField(required=False, allow_null=True, default=None)


def read_memories(path: Path, user_prefix: str = "") -> tuple[int, Iterator[Item]]:
    """Return how many memories a file holds, and each with its place, checked as in REST.

    Raises:
        UnreadableFileError: the file cannot be used as a whole.
    """
    text = read_text(path)
    samples = parse_locomo(text)
    if samples is None:
        lines = numbered_lines(text)
        return len(lines), (check_memory(place, partial(parse_object, line)) for place, line in lines)

    def read_sample(name: str, sample: Any) -> list[Item]:
        return [
            check_memory(f"sample {name} {turn.place}", partial(turn_fields, turn, user_prefix + name))
            for turn in locomo_turns(sample)
        ]

    items = read_samples(samples, read_sample)
    return len(items), iter(items)


def read_questions(path: Path, user_prefix: str = "") -> list[Question]:
    """Return the questions of a LoCoMo file, or of JSON Lines. Raises UnreadableFileError."""
    text = read_text(path)
    samples = parse_locomo(text)
    if samples is None:
        return [check_question(place, partial(parse_object, line)) for place, line in numbered_lines(text)]

    def read_sample(name: str, sample: Any) -> list[Question]:
        return [
            check_question(f"sample {name} {place}", partial(dict, fields))
            for place, fields in locomo_questions(sample, user_prefix + name)
        ]

    return read_samples(samples, read_sample)


def read_text(path: Path) -> str:
    """Return the text of a file. Raises UnreadableFileError."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFileError(f"{path}: {type(error).__name__}: expected a UTF-8 text file.") from error


def numbered_lines(text: str) -> list[tuple[str, str]]:
    """Return the lines that are not blank, each after its place."""
    # Not splitlines(): U+2028 and others, which it takes for ends, may occur in a JSON string as they are.
    return [(f"line {number}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def parse_locomo(text: str) -> list[Any] | None:
    """Return the samples of a LoCoMo file; None for any other text. Raises UnreadableFileError."""
    try:
        # Only to recognise it, whatever its numbers are.
        if not is_locomo(json.loads(text, parse_int=str)):
            return None
    except (ValueError, RecursionError):
        return None
    try:
        return list(parse_json(text))
    except UnusableError as error:
        raise UnreadableFileError(f"This looks like a LoCoMo file, but: {error}") from error


def read_samples(samples: Sequence[Any], read: Callable[[str, Any], list[T]]) -> list[T]:
    """Return what `read` makes of the name and the contents of each sample. Raises UnreadableFileError."""
    found: list[T] = []
    for number, sample in enumerate(samples, 1):
        try:
            found += read(sample_name(sample), sample)
        except LocomoError as error:
            raise UnreadableFileError(f"This looks like a LoCoMo file, but in sample {number}: {error}") from error
    return found


def check_memory(place: str, get: Callable[[], Any]) -> Item:
    """Return the draft that fields describe, or why they describe none. get: returns the fields."""
    try:
        return PlacedDraft(place, make_draft(check_fields(MemoryInput, get())))
    except (UnusableError, LocomoError) as error:
        return BadLine(place, str(error))


def check_question(place: str, get: Callable[[], Any]) -> Question:
    """Return the question that fields describe. Raises UnreadableFileError."""
    try:
        data = check_fields(QuestionInput, get())
    except UnusableError as error:
        expected = "{'user_id', 'question', 'evidence': [...], 'category'?, 'asked_at'?}"
        raise UnreadableFileError(f"{place}: {error} (expected {expected})") from error
    evidence = frozenset(data["evidence"])
    return Question(data["user_id"], data["question"], evidence, data["category"], data["asked_at"])


def check_fields(serializer: type[serializers.Serializer[Any]], fields: Any) -> dict[str, Any]:
    """Return validated fields. Raises UnusableError, which names the first one at fault."""
    try:
        data: dict[str, Any] = validate(serializer, fields)
    except ValidationError as error:
        raise UnusableError(first_reason(error.detail)) from error
    return data


def parse_object(line: str) -> dict[str, Any]:
    """Return the JSON object of a line. Raises UnusableError."""
    data = parse_json(line)
    if not isinstance(data, dict):
        raise UnusableError("not a JSON object")
    return data


def parse_json(text: str) -> Any:
    """Parse JSON as in REST: no member twice, finite numbers, no more than a request. Raises UnusableError."""
    body, limit = text.encode(), settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if len(body) > limit:
        raise UnusableError(f"too large: at most {limit} bytes, got {len(body)}")
    try:
        return StrictJSONParser().parse(BytesIO(body))
    except ParseError as error:
        reason = str(error.detail).removeprefix("JSON parse error - ")
        raise UnusableError(f"not a JSON object ({reason})") from error
    except ValidationError as error:
        raise UnusableError(first_reason(error.detail)) from error


def first_reason(detail: Any) -> str:
    """Return the first of nested error messages, after the names of its fields."""
    if isinstance(detail, dict):
        name, inner = next(iter(detail.items()))
        return f"{name}: {first_reason(inner)}"
    if isinstance(detail, list):
        return first_reason(detail[0])
    return str(detail)
