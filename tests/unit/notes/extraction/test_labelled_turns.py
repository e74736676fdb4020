"""How well facts are found in labelled turns: labelled_turns.jsonl.

A fact is right when its category is among those of the label and its content has all of the label's words. The part
"held-out" was written in one go and nothing was adapted to it.
"""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from apps.notes.domain.extraction.extract import extract_facts
from apps.notes.domain.extraction.fact import Fact, Turn

FILE = Path(__file__).parent / "labelled_turns.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
AT = datetime(2026, 3, 4, 12, tzinfo=UTC)


def is_right(fact: Fact, label: dict[str, Any]) -> bool:
    content = fact.content.lower()
    return fact.category.value in label["categories"] and all(word.lower() in content for word in label["words"])


def count(rows: Iterable[dict[str, Any]]) -> tuple[int, int, int]:
    """Return how many facts are right, how many are wrong, and how many labels were not found."""
    right = wrong = missed = 0
    for row in rows:
        left = list(row["facts"])
        for fact in extract_facts([Turn(row.get("role", "user"), row["text"], AT)]):
            label = next((one for one in left if is_right(fact, one)), None)
            if label is None:
                wrong += 1
            else:
                left.remove(label)
                right += 1
        missed += len(left)
    return right, wrong, missed


def test_the_turns_are_many_and_half_of_them_hold_nothing():
    assert len(ROWS) >= 350
    assert sum(not row["facts"] for row in ROWS) * 2 >= len(ROWS)
    assert sum(row["part"] == "held-out" for row in ROWS) >= 150


@pytest.mark.parametrize("language", ["en", "zh", "all"])
@pytest.mark.parametrize("part", ["tuned", "held-out", "all"])
def test_precision_and_recall(part, language):
    right, wrong, missed = count(
        row for row in ROWS if part in (row["part"], "all") and language in (row["language"], "all")
    )
    assert right / (right + wrong) >= 0.85, f"{wrong} of {right + wrong} are wrong"
    assert right / (right + missed) >= 0.5, f"{missed} of {right + missed} are missed"
