"""Drafts of a shorter MEMORY.md: whatever a model answers, nothing is lost without being listed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.notes.domain.compaction.draft import (
    MAX_FACTS,
    DraftAnswer,
    FactAction,
    LastCompaction,
    choose_facts,
    count_facts,
    make_draft,
    should_compact,
)
from apps.notes.domain.settings import MemoryConfig
from tests.integration.notes.compactions import CATS, GOOD, SHORTER, TEA, TEXT

SAID = [TEA, CATS, "Ana does not eat meat.", "Ana likes tea.", "Ana has 3 cats.", "", "- x", "# Ana", "Ana\n\n- eats"]
NUMBERS = st.integers(-1, 8)
ITEMS = st.fixed_dictionaries({"facts": st.lists(NUMBERS, min_size=1, max_size=4), "text": st.sampled_from(SAID)})
DROPS = st.fixed_dictionaries({"fact": NUMBERS, "reason": st.sampled_from(["old", ""])})


def draft_of(items, dropped=(), text: str = TEXT):
    answer = DraftAnswer.model_validate({"items": items, "dropped": list(dropped)})
    facts = choose_facts(text.encode())
    return facts, make_draft(text.encode(), facts, answer)


@settings(max_examples=300, deadline=None)
@given(st.lists(ITEMS, max_size=5), st.lists(DROPS, max_size=3))
def test_no_answer_loses_anything_that_is_not_listed(items, dropped):
    facts, draft = draft_of(items, dropped)
    text = draft.text.decode()
    assert [change.number for change in draft.changes] == list(range(1, len(facts) + 1))
    for change in draft.changes:
        if change.action is FactAction.KEPT:
            assert change.text in text
        elif change.action is FactAction.DROPPED:
            assert [drop["fact"] for drop in dropped].count(change.number) == 1
        else:
            assert change.into in text
            assert change.into in {item["text"] for item in items}
    assert without_items(text) == without_items(TEXT)
    assert len(text) <= len(TEXT)


def without_items(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith(("- Ana", "* Ana"))]


def test_draft_of_a_good_answer():
    _, draft = draft_of(GOOD)
    assert draft.text.decode() == SHORTER
    assert draft.counts == {FactAction.KEPT: 2, FactAction.MERGED: 4}


def test_only_the_first_facts_are_asked_about():
    many = "".join(f"- Ana has {number} cats.\n" for number in range(MAX_FACTS + 50))
    assert len(choose_facts(many.encode())) == MAX_FACTS
    long = "".join(f"- {'Ana likes tea. ' * 60}\n" for _ in range(100))
    assert 0 < len(choose_facts(long.encode())) < 40


def facts(count: int) -> bytes:
    return b"- x y\n" * count


CONFIG = MemoryConfig()


@pytest.mark.parametrize(
    ("count", "digest", "last", "expected"),
    [
        (30, "new", None, False),
        (31, "new", None, True),
        (31, "old", LastCompaction(frozenset({"old"}), 31), False),
        (33, "new", LastCompaction(frozenset({"old"}), 31), False),
        (34, "new", LastCompaction(frozenset({"old"}), 31), True),
        (34, "draft", LastCompaction(frozenset({"old", "draft"}), 31), False),
        (40, "new", LastCompaction(frozenset({"old"}), 20), True),
    ],
)
def test_should_compact(count, digest, last, expected):
    """Above the threshold, and after a compaction only once a tenth of the threshold was added."""
    assert count_facts(facts(count)) == count
    assert should_compact(CONFIG, facts(count), digest, last) is expected
