"""Reading files of memories and of questions: JSON Lines, or LoCoMo conversations (docs/import-and-evaluate.md)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rest_framework.exceptions import ValidationError

from apps.core.rest.serializers import StrictSerializer
from apps.semantic.domain.locomo import LocomoError, Question, is_locomo, locomo_drafts, locomo_questions
from apps.semantic.importing import BadLine, Item, PlacedDraft
from apps.semantic.rest.inputs import MemoryInput, draft_of


class UnreadableFileError(Exception):
    """The file cannot be used; the text says why and what would be right."""


def load_document(path: Path) -> Any:
    """The one JSON document that a file holds, or None when it is JSON Lines."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFileError(f"{path}: {type(error).__name__}: expected a UTF-8 text file.") from error
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None


def read_memories(path: Path, user_prefix: str = "") -> tuple[int, Iterator[Item]]:
    """How many memories a file holds, and the drafts. Raises UnreadableFileError."""
    document = load_document(path)
    if is_locomo(document):
        drafts = _locomo_memories(document, user_prefix)
        return len(drafts), iter(drafts)
    lines = [(n, line) for n, line in enumerate(path.read_text("utf-8").splitlines(), 1) if line.strip()]
    return len(lines), (_draft(number, line) for number, line in lines)


def read_questions(path: Path, user_prefix: str = "") -> list[Question]:
    """The questions of a LoCoMo file, or of JSON Lines. Raises UnreadableFileError."""
    document = load_document(path)
    if is_locomo(document):
        return [question for sample in document for question in locomo_questions(sample, _user(sample, user_prefix))]
    lines = path.read_text("utf-8").splitlines()
    return [_question(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _locomo_memories(document: Any, user_prefix: str) -> list[Item]:
    try:
        return [
            PlacedDraft(f"sample {sample['sample_id']} {draft.metadata['dia_id']}", draft)
            for sample in document
            for draft in locomo_drafts(sample, _user(sample, user_prefix))
        ]
    except (LocomoError, KeyError, TypeError) as error:
        raise UnreadableFileError(f"This looks like a LoCoMo file, but: {error}") from error


def _user(sample: Any, prefix: str) -> str:
    return f"{prefix}{sample['sample_id']}"


def _draft(number: int, line: str) -> Item:
    try:
        data = json.loads(line)
    except (json.JSONDecodeError, RecursionError):
        return BadLine(f"line {number}", "not a JSON object")
    serializer: StrictSerializer = MemoryInput(data=data)
    try:
        serializer.is_valid(raise_exception=True)
    except ValidationError as error:
        return BadLine(f"line {number}", _first_reason(error.detail))
    return PlacedDraft(f"line {number}", draft_of(serializer.validated_data))


def _first_reason(detail: Any) -> str:
    if isinstance(detail, dict):
        name, inner = next(iter(detail.items()))
        return f"{name}: {_first_reason(inner)}"
    if isinstance(detail, list):
        return _first_reason(detail[0])
    return str(detail)


def _question(number: int, line: str) -> Question:
    try:
        item = json.loads(line)
        evidence = frozenset(str(key) for key in item["evidence"])
        return Question(str(item["user_id"]), str(item["question"]), evidence, str(item.get("category", "")))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableFileError(
            f"line {number}: expected {{'user_id', 'question', 'evidence': [...], 'category'?}} ({error!r})"
        ) from error
