"""LoCoMo documents: long conversations in sessions, with questions whose evidence turns are known."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any

_SESSION = re.compile(r"session_([0-9]{1,9})\Z")
_TURN_ID = re.compile(r"D([0-9]+):([0-9]+)")
_DATE_FORMATS = ("%I:%M %p on %d %B, %Y", "%I:%M %p on %d %b, %Y")


class LocomoError(ValueError):
    """The document is not a LoCoMo file; the text says where."""


@dataclass(frozen=True)
class Question:
    """A question about one user's memories.

    evidence: normalised turn ids, or other keys of memories. asked_at: None for now.
    """

    user_id: str
    text: str
    evidence: frozenset[str]
    category: str
    asked_at: datetime | None = None


def is_locomo(document: Any) -> bool:
    """Return whether a document is a list of conversations with questions."""
    return (
        isinstance(document, list)
        and bool(document)
        and all(isinstance(sample, dict) and "conversation" in sample for sample in document)
    )


def turn_key(dia_id: str) -> str:
    """Return a turn id in its plain form: `D1:03` is `D1:3`. Text without one is returned as it is."""
    found = _TURN_ID.search(dia_id)
    return f"D{found[1].lstrip('0') or 0}:{found[2].lstrip('0') or 0}" if found else dia_id


@dataclass(frozen=True)
class Turn:
    """One turn of a conversation, not checked yet. place: its id, else its position. said: as it is in the file."""

    place: str
    session: int
    at: datetime
    said: Any


def sample_name(sample: Mapping[str, Any]) -> str:
    """Return the id of a sample. Raises LocomoError."""
    name = sample.get("sample_id")
    if not isinstance(name, str | int) or not is_name(str(name)):
        raise LocomoError("sample_id: expected a short text.")
    return str(name)


def locomo_turns(sample: Mapping[str, Any]) -> Iterator[Turn]:
    """Yield the turns in order. Raises LocomoError when the conversation or the time of a session cannot be read.

    Turn n of a session happened n seconds after the session began, so the order survives any way of writing.
    """
    conversation = sample["conversation"]
    if not isinstance(conversation, Mapping):
        raise LocomoError("conversation: expected an object.")
    sessions = [
        (int(found[1]), turns)
        for name, turns in conversation.items()
        if (found := _SESSION.match(name)) and isinstance(turns, list)
    ]
    for number, turns in sorted(sessions, key=itemgetter(0)):
        began = session_time(conversation, number)
        for index, said in enumerate(turns):
            name = said.get("dia_id") if isinstance(said, Mapping) else None
            place = f"session_{number} turn {index + 1}"
            if isinstance(name, str) and is_name(name):
                place = turn_key(name)
            try:
                yield Turn(place, number, began + timedelta(seconds=index), said)
            except OverflowError as error:
                raise LocomoError(f"{began.isoformat()}: too late for a session.") from error


def turn_fields(turn: Turn, user_id: str) -> dict[str, Any]:
    """Return the memory that a turn becomes, as `POST /api/semantic/memories` takes it. Raises LocomoError.

    It says "Speaker: text", with the caption of a photo.
    """
    said = turn.said
    text = f"{text_of(said, 'speaker')}: {text_of(said, 'text')}"
    return {
        "content": f"{text} (shares {text_of(said, 'blip_caption')})" if said.get("blip_caption") else text,
        "user_id": user_id,
        "type": "conversation_turn",
        "source": "conversation",
        "session_id": f"session_{turn.session}",
        "occurred_at": turn.at.isoformat(),
        "metadata": {"dia_id": turn_key(text_of(said, "dia_id")), "speaker": text_of(said, "speaker")},
    }


def locomo_questions(sample: Mapping[str, Any], user_id: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the questions that have evidence, each with its place, not checked yet. Raises LocomoError.

    Turn ids are found in evidence of any form. Questions are asked with the last turn.
    """
    asked_at = max((turn.at for turn in locomo_turns(sample)), default=None)
    items = sample.get("qa", [])
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise LocomoError("qa: expected a list of objects.")
    for number, item in enumerate(items, 1):
        evidence = sorted({turn_key(found[0]) for found in _TURN_ID.finditer(str(item.get("evidence")))})
        if evidence:
            fields = {"user_id": user_id, "question": item.get("question"), "evidence": evidence}
            if asked_at is not None:
                fields["asked_at"] = asked_at.isoformat()
            yield f"question {number}", {**fields, "category": str(item.get("category", ""))}


def text_of(said: Any, name: str) -> str:
    """Return a member of a turn that is a text. Raises LocomoError."""
    value = said.get(name) if isinstance(said, Mapping) else None
    if not isinstance(value, str):
        raise LocomoError(f"{name}: expected a text.")
    return value


def is_name(text: str) -> bool:
    """Return whether a text can be printed to name a place."""
    return text.isprintable() and 0 < len(text) <= 100


def session_time(conversation: Mapping[str, Any], number: int) -> datetime:
    """Return when a session began. Raises LocomoError."""
    text = str(conversation.get(f"session_{number}_date_time", ""))
    for pattern in _DATE_FORMATS:
        try:
            return datetime.strptime(text, pattern).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise LocomoError(f"session_{number}_date_time: {text[:100]!r} is not like '1:56 pm on 8 May, 2023'.")
