"""Deciding recorded cases again, without a database."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.rules.domain.documents.rule import RuleConfig
from apps.rules.domain.documents.validate import changed_document
from apps.rules.domain.engine.arbitration import ArbitrationConfig
from apps.rules.domain.engine.detection import detect
from apps.rules.domain.engine.merge import ContentStrategy, MergeConfig
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.signals import DetectionConfig, SignalType
from apps.semantic.domain.rehearsal import (
    AXIS,
    ReplayCounts,
    ReplayedOutcome,
    at_cosine,
    removed_ids,
    replay,
    replay_case,
)

THEN = datetime(2026, 3, 1, tzinfo=UTC)
RULE = RuleConfig(name="mine")
MERGING = RuleConfig(
    name="merging",
    detection=DetectionConfig(keyword_threshold=0.5, restate_threshold=0.5),
    arbitration=ArbitrationConfig(priority_recency=False, priority_source=False),
    merge=MergeConfig(content_strategy=ContentStrategy.CONCATENATE, deduplicate=False),
)


def record(key: str, content: str, days: int = 0) -> MemoryRecord:
    return MemoryRecord(key, content, THEN + timedelta(days=days))


@given(st.floats(-1, 1, width=32))
def test_vector_of_partner_has_exactly_recorded_cosine(cosine: float) -> None:
    vector = at_cosine(cosine)
    assert vector is not None
    assert float(np.dot(AXIS, vector)) == cosine
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)


def test_a_cosine_just_above_one_is_no_trouble() -> None:
    assert at_cosine(float(np.nextafter(np.float32(1), np.float32(2)))) is not None


def test_without_a_cosine_there_is_no_vector() -> None:
    assert at_cosine(None) is None


def test_each_partner_is_compared_at_its_own_cosine() -> None:
    partners = [(record("near", "tea"), 0.99), (record("far", "tea"), 0.5), (record("unknown", "tea"), None)]
    case = replay_case(record("new", "coffee"), partners)
    seen = [detect(case.candidate, partner, DetectionConfig()).signal(SignalType.SEMANTIC) for partner in case.partners]
    assert [signal and signal.evidence["similarity"] for signal in seen] == [0.99, None, None]
    assert [case.similarity(partner) for partner in case.partners] == [0.99, 0.5, None]


def test_case_without_conflict_leaves_everything() -> None:
    case = replay_case(record("new", "Ben has a dog."), [(record("old", "Ana drinks tea."), 0.1)])
    fate = replay(case, RULE, 1_000)
    assert (fate.outcome, fate.removed, fate.existing, fate.rule) == ("no_conflict", frozenset(), None, "mine")


def test_contradiction_supersedes_older_memory() -> None:
    case = replay_case(
        record("new", "Ana does not live in Lisbon.", 3),
        [(record("old", "Ana lives in Lisbon."), 0.7), (record("other", "Ben has a dog."), 0.1)],
    )
    fate = replay(case, RULE, 1_000)
    assert (fate.outcome, fate.existing, fate.removed) == ("superseded_existing", "old", {"old"})


def test_merge_tells_its_text_and_is_only_noticed_when_that_is_too_long() -> None:
    contents = ("Ana bakes rye bread every Sunday.", "Ana bakes rye bread every Sunday morning!")
    case = replay_case(record("new", contents[1]), [(record("old", contents[0]), 0.9)])
    fate = replay(case, MERGING, 1_000)
    assert (fate.outcome, fate.merged, fate.removed) == ("merged", "\n".join(contents), {"new", "old"})
    short = replay(case, MERGING, 50)
    assert (short.outcome, short.merged, short.removed) == ("noticed", None, frozenset())
    assert "longer than 50 characters" in short.reason


@pytest.mark.parametrize(
    ("outcome", "gone"),
    [
        ("noticed", set()),
        ("superseded_existing", {"old", "third"}),
        ("kept_existing", {"new"}),
        ("rejected", {"new"}),
        ("merged", {"new", "old", "third"}),
    ],
)
def test_who_leaves_by_an_outcome(outcome: str, gone: set[str]) -> None:
    assert removed_ids(outcome, "new", "old", ["third"]) == gone


def test_fates_are_same_when_same_memories_stand() -> None:
    fate = ReplayedOutcome("superseded_existing", "mine", "old", frozenset(("old", "third")))
    assert fate.effect == ReplayedOutcome("superseded_existing", "other", "third", frozenset(("old", "third"))).effect
    assert fate.effect != ReplayedOutcome("superseded_existing", "mine", "old", frozenset(("old",))).effect
    assert fate.effect != ReplayedOutcome("noticed", "mine", "old").effect


def test_it_matters_for_which_memory_candidate_leaves() -> None:
    fates = [ReplayedOutcome("kept_existing", "mine", key, frozenset(("new",))) for key in ("old", "third")]
    assert fates[0].effect != fates[1].effect


def test_merged_texts_that_are_one_memory_are_same() -> None:
    fates = [
        ReplayedOutcome("merged", "mine", "old", frozenset(("new", "old")), text)
        for text in ("Tea.\nAna", "tea. ana!", "tea")
    ]
    assert fates[0].effect == fates[1].effect
    assert fates[0].effect != fates[2].effect


def test_a_tally_counts_what_differs_and_why() -> None:
    tally, one, other = (
        ReplayCounts(),
        ReplayedOutcome("noticed", "mine"),
        ReplayedOutcome("superseded_existing", "mine", "old", frozenset(("old",))),
    )
    assert [tally.add(*fates) for fates in ((one, one, one), (one, one, other), (one, other, other))] == [
        False,
        True,
        True,
    ]
    assert (tally.replayed, tally.differ, tally.due_to_change) == (3, 2, 1)
    assert tally.transitions == {("noticed", "superseded_existing"): 2}
    assert tally.rules == {"mine": 3}


def test_changes_are_merged_into_the_document() -> None:
    before = {"name": "mine", "merge": {"boost_amount": 0.2, "deduplicate": False}, "priority": 3}
    changes = {"merge": {"boost_amount": 0.4}, "priority": None}
    assert changed_document("mine", before, changes) == {
        "name": "mine",
        "merge": {"boost_amount": 0.4, "deduplicate": False},
    }
