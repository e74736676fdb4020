"""The details of a memory: what is known of it besides its text and its state, and how those of two become one.

A text that is stated again is one memory. Whichever of the two remains has the details of both afterwards, merged by
the rule's metadata strategies, so that nothing known is lost (DESIGN D4, D15). A decision keeps the changes in its
receipt, as JSON, and taking them back leaves what was changed since.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from apps.rules.domain.engine.merge import (
    KeywordsStrategy,
    MergeConfig,
    merge_importances,
    merge_keywords,
    normalise_keyword,
)
from apps.rules.domain.engine.record import higher_source
from apps.semantic.domain.duplicates import decide_duplicate
from apps.semantic.domain.memory import (
    ATTRIBUTES,
    DEFAULT_SOURCE,
    EVENT_KEY,
    EXTRACTION_KEY,
    POLICY_KEY,
    TYPE_KEY,
    Attributes,
    MemoryDraft,
)

# Restating may go on for years: what would make a memory larger than this is left out.
MAX_KEYWORDS = 200
MAX_SESSIONS = 100
MAX_CONTEXT_CHARS = 10_000
MAX_METADATA_CHARS = 50_000
# How the hub came to make a memory says nothing of another one.
_ORIGIN = frozenset({EVENT_KEY, TYPE_KEY, POLICY_KEY, EXTRACTION_KEY})
_ABSENT = object()


@dataclass(frozen=True, kw_only=True)
class Details(Attributes):
    """What is known of a memory besides its text and its state."""

    base_confidence: float
    source: str = DEFAULT_SOURCE
    further_sessions: tuple[str, ...] = ()

    @classmethod
    def of_draft(cls, draft: MemoryDraft) -> "Details":
        """Return the details that a caller may send."""
        said = {name: getattr(draft, name) for name in ATTRIBUTES}
        return cls(**said, base_confidence=draft.base_confidence, source=draft.source or DEFAULT_SOURCE)


MOMENTS = frozenset(("occurred_at", "expires_at"))
DETAILS = tuple(one.name for one in fields(Details))


def merge_details(winner: Details, other: Details, config: MergeConfig, *, other_is_newer: bool) -> Details:
    """Return the details that the winner has once another memory turned out to say the same.

    Importance, keywords and source follow the rule. Of metadata that both have the newer value prevails; what the hub
    notes of the origin of a memory is not taken over. The context has the lines of both. A session of the other one
    remains a further session. Everything else, such as a tag or the date, is taken over where the winner has none. The
    confidence is left as it is, see `merge_confidences`.
    """
    own = winner.importance if winner.importance is not None else other.importance
    given = other.importance if other.importance is not None else own
    others = {name: value for name, value in other.metadata.items() if name not in _ORIGIN}
    older, newer = (winner.metadata, others) if other_is_newer else (others, winner.metadata)
    merged = {name: getattr(winner, name) or getattr(other, name) for name in ATTRIBUTES} | {
        "importance": None if own is None or given is None else merge_importances(own, given, config),
        "source": higher_source(winner.source, other.source),
        "keywords": add_keywords(winner.keywords, other.keywords, config.metadata_strategy.keywords),
        # Until the later time of both, and without end if one of them has none.
        "expires_at": max(winner.expires_at, other.expires_at) if winner.expires_at and other.expires_at else None,
        "further_sessions": add_sessions(winner, other),
        "context": add_lines(winner.context, other.context),
        "metadata": merge_metadata(older, newer, kept=winner.metadata),
    }
    return replace(winner, **merged)


def merge_confidences(candidate: Details, existing: Details) -> float:
    """Return the base confidence of a text that was stated again: that of a duplicate (spec 002 section 9)."""
    return decide_duplicate(candidate.base_confidence, existing.base_confidence)[1]


def add_sessions(winner: Details, other: Details) -> tuple[str, ...]:
    """Return the sessions in which the same was said, besides the one that the winner will have."""
    own = winner.session_id or other.session_id
    said = dict.fromkeys((*winner.further_sessions, other.session_id, *other.further_sessions))
    return tuple(session for session in said if session and session != own)[:MAX_SESSIONS]


def add_keywords(own: tuple[str, ...], other: tuple[str, ...], strategy: KeywordsStrategy) -> tuple[str, ...]:
    """Return the keywords of both by the rule's strategy, unchanged where only one has any, or nothing is added."""
    if not own or not other:
        return own or other
    known = set(map(normalise_keyword, own))
    if strategy is KeywordsStrategy.UNION and known.issuperset(map(normalise_keyword, other)):
        return own
    return merge_keywords(own, other, strategy)[: max(MAX_KEYWORDS, len(own))]


def add_lines(own: str, other: str) -> str:
    """Return a context with the lines of another one that it does not have yet, as far as they fit."""
    lines = own.split("\n") if own else []
    known, size = set(lines), len(own)
    for line in dict.fromkeys(other.split("\n")):
        if line and line not in known and size + len(line) < MAX_CONTEXT_CHARS:
            lines.append(line)
            size += len(line) + 1
    return "\n".join(lines)


def merge_metadata(
    older: Mapping[str, Any], newer: Mapping[str, Any], kept: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the metadata of both, member by member: lists have the items of both, and of other values the newer one.

    kept: what remains alone if both together were too large.
    """
    merged: dict[str, Any] = merge_values(dict(older), dict(newer))
    if kept is not None and len(json.dumps(merged)) > MAX_METADATA_CHARS:
        return dict(kept)
    return merged


def merge_values(older: Any, newer: Any) -> Any:
    """Return two values of metadata as one."""
    if isinstance(older, dict) and isinstance(newer, dict):
        both = {name: merge_values(value, newer[name]) if name in newer else value for name, value in older.items()}
        return {**both, **{name: value for name, value in newer.items() if name not in older}}
    if isinstance(older, list) and isinstance(newer, list):
        known = keys_of(older)
        return [*older, *(item for item in newer if key_of(item) not in known)]
    return newer


def key_of(item: Any) -> str:
    """Return what items of a list in metadata are compared by: 1 is not true, and lists are no keys."""
    return json.dumps(item, sort_keys=True)


def keys_of(items: Iterable[Any]) -> set[str]:
    """Return what some items are compared by."""
    return set(map(key_of, items))


def changes_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the details that differ as JSON: name -> [before, after]."""
    pairs = {name: [as_json(before[name]), as_json(value)] for name, value in after.items()}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def as_json(value: Any) -> Any:
    """Return the value of a detail as a receipt keeps it."""
    if isinstance(value, datetime):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


def from_json(name: str, value: Any) -> Any:
    """Return the value of a detail that a receipt keeps."""
    return datetime.fromisoformat(value) if name in MOMENTS and value is not None else value


def take_back_detail(name: str, now: Any, before: Any, after: Any) -> Any:
    """Return a detail without a change that was made to it, as JSON. now: its present value, as JSON as well."""
    if name != "context" or now == after:
        return take_back(now, before, after)
    return "\n".join(take_back(now.split("\n"), before.split("\n"), after.split("\n")))


def take_back(now: Any, before: Any, after: Any) -> Any:
    """Return a value without its change from `before` to `after`, and with what was changed since."""
    if now == after:
        return before
    if all(isinstance(value, dict) for value in (now, before, after)):
        left = {
            name: take_back(value, before.get(name, _ABSENT), after[name]) if name in after else value
            for name, value in now.items()
        }
        return {name: value for name, value in left.items() if value is not _ABSENT}
    if all(isinstance(value, list) for value in (now, before, after)):
        added, there = keys_of(after) - keys_of(before), keys_of(after) | keys_of(now)
        kept = [item for item in now if key_of(item) not in added]
        return [*kept, *(item for item in before if key_of(item) not in there)]
    return now


def apply_merge_patch(target: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with the members of a patch set; a null takes its member away, an object is merged in depth."""
    merged = dict(target)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping):
            inner = merged.get(name)
            merged[name] = apply_merge_patch(inner if isinstance(inner, Mapping) else {}, value)
        else:
            merged[name] = value
    return merged
