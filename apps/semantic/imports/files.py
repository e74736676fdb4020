"""Reading files of memories and of questions: JSON Lines, or LoCoMo conversations (docs/reference/file-formats.md)."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from rest_framework import serializers
from rest_framework.exceptions import ParseError, ValidationError

from apps.core.schemas.fields import IdentifierField, VisibleTextField
from apps.core.schemas.parsers import StrictJSONParser
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
    """A question of an evaluation. What else it holds is the asker's own."""

    user_id = IdentifierField()
    question = VisibleTextField(max_length=MAX_QUERY_CHARS)
    evidence = serializers.ListField(child=serializers.CharField(trim_whitespace=False))
    category = serializers.CharField(required=False, allow_blank=True, default="")


def read_memories(path: Path, user_prefix: str = "") -> tuple[int, Iterator[Item]]:
    """How many memories a file holds, and each with its place, checked as REST checks it.

    Raises UnreadableFileError.
    """
    text, form = _text(path), MemoryInput()
    samples = _locomo_samples(text)
    if samples is not None:
        items = list(_each(samples, partial(_sample_memories, form, user_prefix)))
        return len(items), iter(items)
    lines = _lines(text)
    return len(lines), (_memory(form, place, partial(_object, line)) for place, line in lines)


def read_questions(path: Path, user_prefix: str = "") -> list[Question]:
    """The questions of a LoCoMo file, or of JSON Lines. Raises UnreadableFileError."""
    text, form = _text(path), QuestionInput()
    samples = _locomo_samples(text)
    if samples is not None:
        return list(_each(samples, partial(_sample_questions, form, user_prefix)))
    return [_question(form, place, partial(_object, line)) for place, line in _lines(text)]


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFileError(f"{path}: {type(error).__name__}: expected a UTF-8 text file.") from error


def _lines(text: str) -> list[tuple[str, str]]:
    """The lines that hold something, with their places."""
    # Not splitlines(): U+2028 and others, which it takes for ends, may stand in a JSON string as they are.
    return [(f"line {number}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _locomo_samples(text: str) -> list[Any] | None:
    """The samples of a LoCoMo file; None when the text is something else. Raises UnreadableFileError."""
    try:
        # Just to see what it is, whatever its numbers are.
        if not is_locomo(json.loads(text, parse_int=str)):
            return None
    except (ValueError, RecursionError):
        return None
    try:
        return list(_parse(text))
    except UnusableError as error:
        raise UnreadableFileError(f"This looks like a LoCoMo file, but: {error}") from error


def _each(samples: Sequence[Any], read: Callable[[Any], Iterator[T]]) -> Iterator[T]:
    for number, sample in enumerate(samples, 1):
        try:
            yield from read(sample)
        except LocomoError as error:
            raise UnreadableFileError(f"This looks like a LoCoMo file, but in sample {number}: {error}") from error


def _sample_memories(form: MemoryInput, user_prefix: str, sample: Any) -> Iterator[Item]:
    name = sample_name(sample)
    for turn in locomo_turns(sample):
        yield _memory(form, f"sample {name} {turn.place}", partial(turn_fields, turn, user_prefix + name))


def _sample_questions(form: QuestionInput, user_prefix: str, sample: Any) -> Iterator[Question]:
    name = sample_name(sample)
    for place, fields in locomo_questions(sample, user_prefix + name):
        yield _question(form, f"sample {name} {place}", partial(dict, fields))


def _memory(form: MemoryInput, place: str, get: Callable[[], Any]) -> Item:
    try:
        return PlacedDraft(place, make_draft(_checked(form, get())))
    except (UnusableError, LocomoError) as error:
        return BadLine(place, str(error))


def _question(form: QuestionInput, place: str, get: Callable[[], Any]) -> Question:
    try:
        data = _checked(form, get())
    except UnusableError as error:
        expected = "{'user_id', 'question', 'evidence': [...], 'category'?}"
        raise UnreadableFileError(f"{place}: {error} (expected {expected})") from error
    return Question(data["user_id"], data["question"], frozenset(data["evidence"]), data["category"])


def _object(line: str) -> dict[str, Any]:
    """The JSON object of a line. Raises UnusableError."""
    data = _parse(line)
    if not isinstance(data, dict):
        raise UnusableError("not a JSON object")
    return data


def _parse(text: str) -> Any:
    """JSON as REST takes it: no member twice, finite numbers, no more than a request. Raises UnusableError."""
    body, limit = text.encode(), settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if len(body) > limit:
        raise UnusableError(f"too large: at most {limit} bytes, got {len(body)}")
    try:
        return StrictJSONParser().parse(BytesIO(body))
    except ParseError as error:
        reason = str(error.detail).removeprefix("JSON parse error - ")
        raise UnusableError(f"not a JSON object ({reason})") from error
    except ValidationError as error:
        raise UnusableError(_first_reason(error.detail)) from error


def _checked(form: serializers.Serializer[Any], fields: Any) -> dict[str, Any]:
    """The fields as a form takes them. Raises UnusableError, which names the first one at fault."""
    try:
        data: dict[str, Any] = form.run_validation(fields)
    except ValidationError as error:
        raise UnusableError(_first_reason(error.detail)) from error
    return data


def _first_reason(detail: Any) -> str:
    if isinstance(detail, dict):
        name, inner = next(iter(detail.items()))
        return f"{name}: {_first_reason(inner)}"
    if isinstance(detail, list):
        return _first_reason(detail[0])
    return str(detail)
