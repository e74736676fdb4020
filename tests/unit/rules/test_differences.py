"""What differs between two documents of a rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.rules.domain.documents.differences import (
    INHERITED,
    SettingChange,
    setting_changes,
    with_changes,
    with_setting,
)

BEFORE = {"name": "a", "priority": 3, "conditions": {"user_id": "ana"}, "merge": {"boost_amount": 0.2}}
NAMES = st.sampled_from(["a", "b", "c"])
LEAVES = st.none() | st.integers(0, 3)
DOCUMENTS = st.dictionaries(NAMES, LEAVES | st.dictionaries(NAMES, LEAVES, min_size=1), max_size=3)


def test_each_setting_that_differs_is_named_with_both_values() -> None:
    after = {"name": "a", "conditions": {"user_id": None}, "merge": {"boost_amount": 0.2, "content_strategy": "smart"}}
    assert setting_changes(BEFORE, after) == [
        SettingChange("conditions.user_id", "ana", None),
        SettingChange("merge.content_strategy", INHERITED, "smart"),
        SettingChange("priority", 3, INHERITED),
    ]


@pytest.mark.parametrize(
    ("path", "value", "after"),
    [
        ("priority", 4, {**BEFORE, "priority": 4}),
        ("merge.boost_amount", INHERITED, {name: value for name, value in BEFORE.items() if name != "merge"}),
        ("arbitration.weights.source", 1, {**BEFORE, "arbitration": {"weights": {"source": 1}}}),
        ("conditions.user_id", None, {**BEFORE, "conditions": {"user_id": None}}),
    ],
)
def test_one_setting_is_changed_and_nothing_else(path: str, value: object, after: object) -> None:
    before = {**BEFORE}
    assert with_setting(BEFORE, path, value) == after
    assert before == BEFORE


@given(DOCUMENTS, DOCUMENTS)
def test_all_changes_together_make_the_other_document(before: dict[str, object], after: dict[str, object]) -> None:
    """But for a section in the place of a value, which no schema allows."""
    kinds = {name: isinstance(value, dict) for name, value in before.items()}
    after = {
        name: value
        for name, value in after.items()
        if kinds.get(name, isinstance(value, dict)) == isinstance(value, dict)
    }
    assert with_changes(before, setting_changes(before, after)) == after
