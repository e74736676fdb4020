"""Rules and edits of them in plain words."""

from typing import Any

import pytest

from apps.rules.admin.words import describe_change, describe_conditions, describe_exception, describe_strategies
from apps.rules.domain.documents.differences import INHERITED, SettingChange
from apps.rules.domain.documents.rule import BUILT_IN, RuleConfig, rule_from_document

DEFAULTS = RuleConfig(name="parent").to_document()
GUARD = rule_from_document(BUILT_IN["inferred"])


def rule(**document: Any) -> RuleConfig:
    return rule_from_document({"name": "mine", **document})


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ({}, "Every new memory"),
        ({"user_id": "ana", "source": ["a", "b", "c"]}, "New memories of the user ana from the source a, b or c"),
        (
            {"household_id": "home", "importance_range": {"min": 0.25, "max": 0.5}},
            "New memories in the household home of importance 0.25 to 0.5",
        ),
    ],
)
def test_what_a_rule_catches_is_said_in_words(conditions: dict[str, Any], words: str) -> None:
    assert describe_conditions(rule(conditions=conditions)) == words


def test_default_rule_catches_the_rest() -> None:
    assert describe_conditions(RuleConfig(name="default")) == "Whatever no other rule catches"


def test_guesses_are_excepted_unless_the_rule_names_them() -> None:
    assert "inferred" in describe_exception(rule(), GUARD)
    assert describe_exception(rule(conditions={"source": "inferred"}), GUARD) == ""
    assert describe_exception(rule(), None) == ""
    assert describe_exception(rule(), rule_from_document({**BUILT_IN["inferred"], "enabled": False})) == ""


def test_steps_are_said_in_their_order() -> None:
    steps = {"priority_importance": True, "priority_recency": False, "allow_merge": False, "default_strategy": "reject"}
    assert describe_strategies(rule(arbitration=steps)) == (
        "What stays: the more important memory, else the one from the more trusted source, "
        "else the one with the higher score, else the stored one, and the new one is rejected."
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (SettingChange("detection.act_threshold", INHERITED, 0.9),
         "Detection, act threshold: 0.9, was as in parent (0.85)."),
        (SettingChange("merge.boost_amount", 0.2, 0.3), "Merge, boost amount: 0.3, was 0.2."),
        (SettingChange("arbitration.allow_merge", False, INHERITED),
         "Arbitration, allow merge: as in parent (Yes), was No."),
        (SettingChange("conditions.user_id", "ana", None), "Conditions, user id: any, was ana."),
        (SettingChange("extends", INHERITED, "base"), "Inherits from base instead of the defaults."),
        (SettingChange("description", "a", "b"), "The description is different."),
    ],
)  # fmt: skip
def test_an_edit_is_said_in_a_sentence(change: SettingChange, words: str) -> None:
    assert describe_change(change, "parent", DEFAULTS) == words
