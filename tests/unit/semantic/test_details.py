"""What remains of the details of two memories that say the same, and taking that back."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.rules.domain.engine.merge import ImportanceStrategy, KeywordsStrategy, MergeConfig
from apps.semantic.domain.details import (
    MAX_CONTEXT_CHARS,
    MAX_KEYWORDS,
    MAX_METADATA_CHARS,
    Details,
    changes_between,
    from_json,
    merge_confidences,
    merge_details,
    merge_values,
    take_back,
    take_back_detail,
)

MARCH, JUNE = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)


def details(**fields: Any) -> Details:
    return Details(**{"importance": 0.5, "base_confidence": 1.0, **fields})


def merged(winner: Details, other: Details, *, other_is_newer: bool = False, **strategies: Any) -> Details:
    config = MergeConfig.model_validate({"metadata_strategy": strategies})
    return merge_details(winner, other, config, other_is_newer=other_is_newer)


def test_the_restated_memory_keeps_what_was_known() -> None:
    known = details(
        importance=1.0, keywords=("home",), metadata={"a": 1}, context="at tea", session_id="s1", project="p"
    )
    found = merged(details(), known)
    assert found == known


@pytest.mark.parametrize(
    ("strategy", "importance"),
    [(ImportanceStrategy.MAX, 0.8), (ImportanceStrategy.BOOST, 0.9), (ImportanceStrategy.AVERAGE, 0.6)],
)
def test_importance_follows_the_rule(strategy: ImportanceStrategy, importance: float) -> None:
    assert merged(details(importance=0.4), details(importance=0.8), importance=strategy).importance == pytest.approx(
        importance
    )


@pytest.mark.parametrize("strategy", [ImportanceStrategy.MAX, ImportanceStrategy.AVERAGE])
def test_importance_that_nobody_named_does_not_count(strategy: ImportanceStrategy) -> None:
    assert merged(details(importance=0.2), details(importance=None), importance=strategy).importance == 0.2
    assert merged(details(importance=None), details(importance=0.2), importance=strategy).importance == 0.2


def test_keywords_are_those_of_both_once() -> None:
    assert merged(details(keywords=("tea", "Home")), details(keywords=("home", "cup"))).keywords == (
        "tea",
        "Home",
        "cup",
    )


def test_keywords_of_both_by_intersection_and_of_one_alone_unchanged() -> None:
    both = KeywordsStrategy.INTERSECTION
    assert merged(details(keywords=("tea", "Home")), details(keywords=("home", "cup")), keywords=both).keywords == (
        "Home",
    )
    assert merged(details(keywords=("tea",)), details(), keywords=both).keywords == ("tea",)


def test_repeated_keywords_change_nothing() -> None:
    own = ("Tea", "tea ", "home")
    assert merged(details(keywords=own), details(keywords=("TEA",))).keywords == own


@pytest.mark.parametrize(("other_is_newer", "b"), [(True, "new"), (False, "old")])
def test_newer_value_of_metadata_prevails_and_none_is_lost(other_is_newer: bool, b: str) -> None:
    own = details(metadata={"a": {"b": "old", "c": 1}, "list": [1, {"x": 1}], "own": None})
    other = details(metadata={"a": {"b": "new", "d": 2}, "list": [{"x": 1}, True], "other": 3})
    found = merged(own, other, other_is_newer=other_is_newer).metadata
    assert found["a"] == {"b": b, "c": 1, "d": 2}
    assert (found["own"], found["other"]) == (None, 3)
    assert len(found["list"]) == 3


def test_origin_of_the_other_memory_is_not_taken_over() -> None:
    other = details(metadata={"episodic_event_id": "e", "routing_policy": "p", "extraction": {}, "a": 1})
    assert merged(details(metadata={"extraction": {"own": 1}}), other).metadata == {"extraction": {"own": 1}, "a": 1}


def test_more_trusted_source_prevails() -> None:
    assert merged(details(source="inferred"), details(source="user")).source == "user"
    assert merged(details(source="user"), details(source="inferred")).source == "user"


def test_memory_keeps_its_date_and_has_any_before_none() -> None:
    assert merged(details(occurred_at=MARCH), details(occurred_at=JUNE)).occurred_at == MARCH
    assert merged(details(occurred_at=JUNE), details(occurred_at=MARCH)).occurred_at == JUNE
    assert merged(details(), details(occurred_at=MARCH)).occurred_at == MARCH
    assert merged(details(occurred_at=MARCH), details()).occurred_at == MARCH


def test_memory_keeps_its_session_and_its_place_in_it() -> None:
    found = merged(details(occurred_at=MARCH, session_id="s1"), details(occurred_at=JUNE, session_id="s2"))
    assert (found.session_id, found.further_sessions, found.occurred_at) == ("s1", ("s2",), MARCH)
    assert merged(details(), details(session_id="s2")).session_id == "s2"


def test_every_session_in_which_it_was_said_is_kept_once() -> None:
    own = details(session_id="s1", further_sessions=("s2",))
    assert merged(own, details(session_id="s3", further_sessions=("s1", "s2", "s4"))).further_sessions == (
        "s2",
        "s3",
        "s4",
    )
    assert merged(own, details(session_id="s2")) == own


def test_context_has_the_lines_of_both() -> None:
    assert merged(details(context="at home\nwith Ben"), details(context="with Ben\nin May")).context == (
        "at home\nwith Ben\nin May"
    )


def test_own_tags_stay_and_missing_ones_are_taken_over() -> None:
    found = merged(details(project="a"), details(project="b", agent="c", is_global=True))
    assert (found.project, found.agent, found.is_global) == ("a", "c", True)


def test_what_would_grow_without_limit_is_left_out() -> None:
    own = details(context="a" * 6_000, keywords=tuple(map(str, range(150))), metadata={"a": "x" * 30_000})
    other = details(
        context="b" * 6_000 + "\nshort", keywords=tuple(map(str, range(100, 300))), metadata={"b": "y" * 30_000}
    )
    found = merged(own, other)
    assert (len(found.keywords), found.metadata) == (MAX_KEYWORDS, own.metadata)
    assert found.context == "a" * 6_000 + "\nshort"
    assert len(found.context) < MAX_CONTEXT_CHARS
    assert MAX_METADATA_CHARS < 60_000


@pytest.mark.parametrize(("candidate", "confidence"), [(0.8, 0.685714), (0.6, 0.6), (0.3, 0.6)])
def test_confidence_is_that_of_a_duplicate(candidate: float, confidence: float) -> None:
    found = merge_confidences(details(base_confidence=candidate), details(base_confidence=0.6))
    assert found == confidence


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from("abc"), json_values, max_size=3)


@given(objects, objects)
def test_every_member_of_both_objects_is_in_the_merged_one(older: dict[str, Any], newer: dict[str, Any]) -> None:
    found = merge_values(older, newer)
    assert found.keys() == older.keys() | newer.keys()
    assert merge_values(found, newer) == found


@given(objects, objects)
def test_taking_a_change_back_is_exact(before: dict[str, Any], other: dict[str, Any]) -> None:
    after = merge_values(before, other)
    assert take_back(after, before, after) == before


def test_taking_a_change_back_keeps_what_was_changed_since() -> None:
    before, after = {"a": 1, "b": 1, "l": ["x"]}, {"a": 2, "b": 2, "c": 3, "l": ["x", "y"]}
    now = {**after, "a": 9, "d": 4, "l": ["x", "y", "z"]}
    assert take_back(now, before, after) == {"a": 9, "b": 1, "d": 4, "l": ["x", "z"]}
    assert take_back(0.7, 0.5, 0.9) == 0.7


def test_taking_a_change_back_brings_back_what_it_removed() -> None:
    assert take_back(["a", "c"], ["a", "b"], ["a"]) == ["a", "c", "b"]


def test_context_is_taken_back_by_lines() -> None:
    assert take_back_detail("context", "home\nBen\nMay", "home", "home\nBen") == "home\nMay"
    assert take_back_detail("context", "home\nBen", "", "home\nBen") == ""


def test_changes_are_kept_as_json() -> None:
    before = {"occurred_at": None, "keywords": ["a"], "importance": 0.5}
    after = {"occurred_at": MARCH, "keywords": ("a",), "importance": 1.0}
    changes = changes_between(before, after)
    assert changes == {"occurred_at": [None, "2026-03-01T00:00:00+00:00"], "importance": [0.5, 1.0]}
    assert from_json("occurred_at", changes["occurred_at"][1]) == MARCH
    assert from_json("occurred_at", None) is None
