"""Read and change the details of memories: what is made from them follows, and their history."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from apps.semantic.domain.details import DETAILS, Details, as_json, changes_between, from_json, take_back_detail
from apps.semantic.domain.state import Transition
from apps.semantic.models import Memory
from apps.semantic.store.rows import word_columns
from apps.semantic.store.unit_of_work import UnitOfWork, state_of

# What the words of a memory are made from besides its content.
_WORDS = frozenset({"keywords", "context", "occurred_at"})
_FROM_WORDS = ("lexemes", "question_share", "fullness", "lexemes_version")


def details_of(memory: Memory) -> Details:
    """Return the details of a memory."""
    values: dict[str, Any] = {name: getattr(memory, name) for name in DETAILS}
    lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    return Details(**values | lists)


def set_details(memory: Memory, details: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Set details of a row, and what is made from its words. Return what has changed, as JSON."""
    changes = changes_between({name: getattr(memory, name) for name in details}, details)
    for name in changes:
        value = details[name]
        setattr(memory, name, list(value) if isinstance(value, tuple) else value)
    if _WORDS & changes.keys():
        words = word_columns(memory.content, memory.keywords, memory.context, memory.occurred_at)
        for name in _FROM_WORDS:
            setattr(memory, name, words[name])
    return changes


def change_details(
    unit: UnitOfWork, memory: Memory, details: Mapping[str, Any], *, reason: str, receipt: UUID | None = None
) -> list[Transition]:
    """Change details of a memory. Return the step for the receipt of the decision that does it; none without a change.

    reason: for its history, in one word.
    """
    changes = set_details(memory, details)
    if not changes:
        return []
    fields = [*changes, *_FROM_WORDS] if _WORDS & changes.keys() else list(changes)
    unit.note_details(memory, changes, fields, reason=reason, receipt=receipt)
    return [Transition(memory.uuid, state_of(memory), state_of(memory), changes)]


def details_without(memory: Memory, changes: Mapping[str, list[Any]], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details of a memory, by name, without changes of a receipt. What was changed since is kept.

    known: details that it will have, where these are not those of the row.
    """
    details = {}
    for name, (before, after) in changes.items():
        now = as_json(known.get(name, getattr(memory, name)))
        details[name] = from_json(name, take_back_detail(name, now, before, after))
    return details
