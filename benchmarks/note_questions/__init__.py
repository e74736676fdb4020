"""How often the first hit of a search in notes answers a question: Chinese notes and questions of our own writing."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from apps.core.domain.scope import system_access
from apps.notes.domain.places import folder_name
from apps.notes.selectors import notes_search
from apps.notes.services import vectors_fill

_HERE = Path(__file__).parent
SETS = ("traditional", "simplified")
ENOUGH_HITS = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a set. place: of the first hit that answers it, from 1; 0 where none of the first hits does."""

    question: str
    expected: str
    place: int
    mode: str
    first: str


def ask_all(name: str) -> Iterator[Asked]:
    """Write the notes of a set for a user of its name, and ask its questions."""
    data = json.loads((_HERE / f"{name}.json").read_text(encoding="utf-8"))
    folder = Path(settings.NOTES_DIR) / "users" / folder_name(name)
    for path, text in data["notes"].items():
        note = folder / path
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(text, encoding="utf-8")
    notes_search(system_access("bench"), name, "first look")
    while vectors_fill(name, 1_000):
        pass
    for question, expected in data["questions"]:
        found = notes_search(system_access("bench"), name, question, limit=ENOUGH_HITS)
        places = [place for place, hit in enumerate(found.hits, 1) if expected in f"{hit.heading}\n{hit.text}"]
        first = found.hits[0].text if found.hits else ""
        yield Asked(question, expected, places[0] if places else 0, found.mode.value, first)


def first_right(asked: list[Asked]) -> float:
    """Return the share of questions that the first hit answers."""
    return sum(each.place == 1 for each in asked) / len(asked)
