"""Reading LoCoMo: long conversations in sessions, with questions whose evidence turns are known."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from apps.core.domain.scope import Scope
from apps.semantic.domain.memory import MemoryDraft

_SESSION = re.compile(r"session_(\d+)\Z")
_TURN_ID = re.compile(r"D(\d+):(\d+)")
_DATE_FORMATS = ("%I:%M %p on %d %B, %Y", "%I:%M %p on %d %b, %Y")


class LocomoError(ValueError):
    """The document is not a LoCoMo file; the text says where."""


@dataclass(frozen=True)
class Question:
    """A question about one user's memories. evidence: normalised turn ids, or other keys of memories."""

    user_id: str
    text: str
    evidence: frozenset[str]
    category: str


def is_locomo(document: Any) -> bool:
    """True for a list of conversations with questions."""
    return (
        isinstance(document, list)
        and bool(document)
        and all(isinstance(sample, dict) and "conversation" in sample for sample in document)
    )


def turn_key(dia_id: str) -> str:
    """A turn id in its plain form: `D1:03` is `D1:3`. Text without one is returned as it is."""
    found = _TURN_ID.search(dia_id)
    return f"D{int(found[1])}:{int(found[2])}" if found else dia_id


def locomo_drafts(sample: Mapping[str, Any], user_id: str) -> Iterator[MemoryDraft]:
    """One memory per turn, in order: "Speaker: text", with the caption of a shared photo.

    Turn n of a session happened n seconds after the session began, so the order survives any way of writing.
    Raises LocomoError.
    """
    conversation = sample["conversation"]
    for number, turns in sorted(_sessions(conversation)):
        began = _session_time(conversation, number)
        for index, turn in enumerate(turns):
            yield MemoryDraft(
                content=turn_content(turn),
                scope=Scope(user_id=user_id),
                type="conversation_turn",
                source="conversation",
                session_id=f"session_{number}",
                occurred_at=began + timedelta(seconds=index),
                metadata={"dia_id": turn_key(str(turn["dia_id"])), "speaker": str(turn["speaker"])},
            )


def turn_content(turn: Mapping[str, Any]) -> str:
    """What is remembered of a turn."""
    said = f"{turn['speaker']}: {turn['text']}"
    caption = turn.get("blip_caption")
    return f"{said} (shares {caption})" if caption else said


def locomo_questions(sample: Mapping[str, Any], user_id: str) -> Iterator[Question]:
    """The questions that have evidence."""
    for item in sample.get("qa", []):
        keys = {turn_key(found[0]) for text in item.get("evidence", []) for found in _TURN_ID.finditer(str(text))}
        if keys:
            yield Question(user_id, str(item["question"]), frozenset(keys), str(item.get("category", "")))


def _sessions(conversation: Mapping[str, Any]) -> Iterator[tuple[int, list[Mapping[str, Any]]]]:
    for name, turns in conversation.items():
        found = _SESSION.match(name)
        if found and isinstance(turns, list):
            yield int(found[1]), turns


def _session_time(conversation: Mapping[str, Any], number: int) -> datetime:
    text = str(conversation.get(f"session_{number}_date_time", ""))
    for pattern in _DATE_FORMATS:
        try:
            return datetime.strptime(text, pattern).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise LocomoError(f"session_{number}_date_time: {text!r} is not like '1:56 pm on 8 May, 2023'.")
