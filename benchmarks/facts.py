"""Facts that patterns find in LoCoMo conversations, to be read one by one."""

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.notes.domain.extraction.extract import extract_facts
from apps.notes.domain.extraction.fact import Fact, Turn
from apps.semantic.domain.locomo import LocomoError, is_locomo, locomo_turns


@dataclass(frozen=True)
class FoundFact:
    """A fact, who said it, and the whole turn in which it was said."""

    fact: Fact
    speaker: str
    said: str


def parse_conversations(text: str) -> list[Mapping[str, Any]]:
    """Return the conversations of a LoCoMo file. Raises LocomoError."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise LocomoError(f"not JSON: {error}") from error
    if not is_locomo(document):
        raise LocomoError("expected a list of conversations.")
    return list(document)


def sessions_of(conversation: Mapping[str, Any]) -> Iterator[list[tuple[str, Turn]]]:
    """Yield the turns of each session with their speakers. Raises LocomoError."""
    session: list[tuple[str, Turn]] = []
    number = None
    for turn in locomo_turns(conversation):
        if turn.session != number and session:
            yield session
            session = []
        number = turn.session
        if isinstance(turn.said, Mapping):
            said = Turn("user", str(turn.said.get("text", "")), turn.at)
            session.append((str(turn.said.get("speaker", "")), said))
    if session:
        yield session


def facts_of(conversation: Mapping[str, Any]) -> Iterator[FoundFact]:
    """Yield what is learnt of a conversation, session by session, of each speaker as the user. Raises LocomoError."""
    for session in sessions_of(conversation):
        for speaker in dict.fromkeys(name for name, _ in session):
            turns = [turn if name == speaker else Turn("assistant", turn.text, turn.at) for name, turn in session]
            for fact in extract_facts(turns):
                yield FoundFact(fact, speaker, turns[fact.turn].text)


def sample_of(found: Sequence[FoundFact], count: int, seed: int) -> list[FoundFact]:
    """Return a random sample in a random order that the seed decides."""
    return random.Random(seed).sample(found, min(count, len(found)))  # noqa: S311 - a sample to be read, not a secret


def counts_of(found: Sequence[FoundFact]) -> dict[str, int]:
    """Return how many facts there are by category, the most frequent first."""
    return dict(Counter(one.fact.category.value for one in found).most_common())
