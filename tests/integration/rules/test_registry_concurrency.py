"""Concurrent edits of rules, each writer in a thread with a connection of its own: none is lost, none half done."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from apps.core.domain.errors import ConflictError
from apps.core.domain.scope import system_access
from apps.events.models import Event
from apps.rules import selectors
from apps.rules.models import MergeRule, MergeRuleVersion
from apps.rules.services import rule_delete, rule_register, rule_update, rules_load
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

SYSTEM = system_access()
all_at_once = partial(at_once, refusals=True)


def setter(section: str, name: str, value: Any) -> Callable[[], Any]:
    return lambda: rule_update(name="mine", changes={section: {name: value}}, actor="test")


def versions() -> list[int]:
    return list(MergeRuleVersion.objects.order_by("version").values_list("version", flat=True))


def test_changes_of_different_settings_at_once_are_all_kept() -> None:
    rule_register(document={"name": "mine"}, actor="test")
    for number in range(1, 21):
        value = number / 100
        all_at_once(
            setter("arbitration", "merge_threshold", value),
            setter("merge", "boost_amount", value),
            setter("detection", "semantic_threshold", value),
            setter("merge", "deduplicate_threshold", value),
        )
        rule = selectors.rule_resolved(SYSTEM, "mine")
        values = (rule.arbitration.merge_threshold, rule.merge.boost_amount, rule.detection.semantic_threshold)
        assert (*values, rule.merge.deduplicate_threshold) == (value,) * 4
    assert versions() == list(range(1, 82))
    assert selectors.registry_version() == 81
    assert Event.objects.filter(name="rule:updated").count() == 80


def test_very_first_changes_of_registry_do_not_collide() -> None:
    def registering(name: str) -> Callable[[], Any]:
        return lambda: rule_register(document={"name": name}, actor="test")

    all_at_once(*[registering(f"rule {number}") for number in range(6)])
    assert versions() == [1, 2, 3, 4, 5, 6]


def test_of_two_registrations_of_name_one_is_refused() -> None:
    for number in range(20):
        name = f"rule {number}"

        def register(name: str = name) -> Any:
            return rule_register(document={"name": name}, actor="test")

        refused = [result for result in all_at_once(register, register, register) if isinstance(result, ConflictError)]
        assert len(refused) == 2
    assert MergeRule.objects.filter(name__startswith="rule ").count() == 20


def test_of_two_updates_that_saw_same_version_one_is_refused() -> None:
    rule_register(document={"name": "mine", "priority": 0}, actor="test")
    for _ in range(20):
        seen = MergeRule.objects.get(name="mine").version
        before = selectors.rule_get(SYSTEM, "mine")["priority"]

        def bump(seen: int = seen, before: int = before) -> Any:
            changes = {"priority": before + 1}
            return rule_update(name="mine", changes=changes, actor="test", expected_version=seen)

        assert sum(isinstance(result, ConflictError) for result in all_at_once(bump, bump)) == 1
    assert selectors.rule_get(SYSTEM, "mine")["priority"] == 20


def test_base_is_never_deleted_under_rule_that_comes_to_extend_it() -> None:
    for number in range(20):
        base, leaf = f"base {number}", f"leaf {number}"
        rule_register(document={"name": base}, actor="test")
        all_at_once(
            lambda base=base: rule_delete(name=base, actor="test"),
            lambda base=base, leaf=leaf: rule_register(document={"name": leaf, "extends": base}, actor="test"),
        )
        names = set(MergeRule.objects.values_list("name", flat=True))
        assert (base in names) == (leaf in names)
    assert selectors.active_rules().broken == {}


def test_two_updates_never_close_circle_together() -> None:
    for name in ("a", "b"):
        rule_register(document={"name": name}, actor="test")
    for _ in range(20):
        all_at_once(
            lambda: rule_update(name="a", changes={"extends": "b"}, actor="test"),
            lambda: rule_update(name="b", changes={"extends": "a"}, actor="test"),
        )
        assert selectors.active_rules().broken == {}
        for name in ("a", "b"):
            rule_update(name=name, changes={"extends": None}, actor="test")


def test_loads_and_updates_at_once_leave_whole_load() -> None:
    for number in range(1, 11):
        documents = [{"name": f"set {n}", "priority": number} for n in range(5)]
        others = [{"name": f"set {n}", "priority": -number} for n in range(5)]
        all_at_once(
            lambda documents=documents: rules_load(documents=documents, actor="test"),
            lambda others=others: rules_load(documents=others, actor="test"),
            lambda: [selectors.active_rules().version for _ in range(20)],
        )
        assert (
            len({rule["priority"] for rule in selectors.rules_export(SYSTEM) if rule["name"] in "set 0 set 1 set 2"})
            == 1
        )
    assert versions() == list(range(1, 101))
