"""The registry of rules: spec 000 "Configurable Merge Rules", its history, and that nothing changes by halves."""

import json
from typing import Any

import pytest
from django.db import connection, transaction

from apps.core.domain.errors import ConflictError, NotFoundError
from apps.core.domain.scope import Access, Permission, Scope, system_access
from apps.events.models import Event
from apps.rules import registry, selectors
from apps.rules.domain.documents.problems import InvalidRuleError
from apps.rules.models import MergeRule, MergeRuleVersion, RegistryVersion
from apps.rules.services import rule_delete, rule_register, rule_restore, rule_update, rules_load
from tests.unit.rules.records import record

pytestmark = pytest.mark.django_db

SYSTEM = system_access()


def register(name: str, **sections: Any) -> None:
    rule_register(document={"name": name, **sections}, actor="test")


def update(name: str, **changes: Any) -> None:
    rule_update(name=name, changes=changes, actor="test")


def everything() -> tuple[Any, ...]:
    tables = [list(model.objects.values()) for model in (MergeRule, MergeRuleVersion, RegistryVersion)]
    return (*tables, Event.objects.count())


def told() -> list[tuple[str, str]]:
    return [(event.name, event.payload["rule_name"]) for event in Event.objects.order_by("id")]


# --- the scenarios of the spec --------------------------------------------------------------------------


def test_scenario_rule_registration_and_lookup() -> None:
    before = selectors.registry_version()
    register("mine", priority=3)
    assert selectors.rule_get(SYSTEM, "mine") == {"name": "mine", "priority": 3}
    assert selectors.rule_resolved(SYSTEM, "mine").priority == 3
    assert selectors.registry_version() == before + 1


def test_scenario_rule_inheritance_follows_the_base() -> None:
    register("base", arbitration={"merge_threshold": 0.3, "weights": {"source": 0.5}})
    register("middle", extends="base", merge={"boost_amount": 0.2})
    register("leaf", extends="middle", arbitration={"weights": {"source": 0.6}})
    assert selectors.rule_resolved(SYSTEM, "leaf").arbitration.merge_threshold == 0.3
    update("base", arbitration={"merge_threshold": 0.4})
    leaf = selectors.rule_resolved(SYSTEM, "leaf")
    assert (leaf.arbitration.merge_threshold, leaf.arbitration.weights.source, leaf.merge.boost_amount) == (
        0.4,
        0.6,
        0.2,
    )


def test_scenario_runtime_rule_updates() -> None:
    register("mine", arbitration={"merge_threshold": 0.3, "weights": {"source": 0.5}})
    before = selectors.registry_version()
    update("mine", arbitration={"weights": {"recency": 0.9}}, priority=4)
    assert selectors.rule_get(SYSTEM, "mine") == {
        "name": "mine",
        "priority": 4,
        "arbitration": {"merge_threshold": 0.3, "weights": {"source": 0.5, "recency": 0.9}},
    }
    assert selectors.registry_version() == before + 1
    assert told()[-1] == ("rule:updated", "mine")


def test_scenario_conditional_rule_matching() -> None:
    register("ana", priority=5, conditions={"user_id": "ana"})
    register("skills", priority=9, conditions={"source": "skill"})
    register("off", priority=99, enabled=False)
    names = [
        selectors.find_matching_rule(candidate, record()).rule.name
        for candidate in (record(), record(source="skill"), record(user_id="ben"))
    ]
    assert names == ["ana", "skills", "default"]
    assert selectors.find_matching_rule(record(), record()).version == selectors.registry_version()


def test_scenario_rule_events() -> None:
    register("mine", priority=3)
    update("mine", priority=4)
    rule_delete(name="mine", actor="test")
    assert told() == [("rule:registered", "mine"), ("rule:updated", "mine"), ("rule:deleted", "mine")]
    payloads = [event.payload for event in Event.objects.order_by("id")]
    assert [json.loads(payload["configuration"])["priority"] for payload in payloads] == [3, 4, 4]
    assert [payload["version"] for payload in payloads] == [1, 2, 3]


def test_scenario_rule_persistence() -> None:
    register("base", merge={"boost_amount": 0.2})
    register("leaf", extends="base", priority=2)
    exported = selectors.rules_export(SYSTEM)
    assert {rule["name"]: rule.get("extends") for rule in exported} == {
        "base": None, "default": None, "inferred": "default", "leaf": "base",
    }  # fmt: skip
    rule_delete(name="leaf", actor="test")
    rule_delete(name="base", actor="test")
    # The base comes after the rule that extends it.
    rules_load(documents=list(reversed(exported)), actor="test")
    assert selectors.rules_export(SYSTEM) == exported
    assert selectors.rule_resolved(SYSTEM, "leaf").merge.boost_amount == 0.2


# --- what is refused changes nothing ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"name": "bad", "merge": {"content_strategy": "shuffle"}}, "merge.content_strategy"),
        ({"name": "bad", "extends": "ghost"}, "extends"),
        ({"name": "bad", "extends": "bad"}, "extends"),
        ({"name": "n" * 101}, "name"),
        ({"name": "bad", "description": "d" * 2**20}, "description"),
        ({"name": "bad", "arbitration": {"weights": {"importance": -1}}}, "arbitration.weights.importance"),
    ],
)
def test_bad_rule_is_refused_and_registry_keeps_its_version(document: dict[str, Any], path: str) -> None:
    before = everything()
    with pytest.raises(InvalidRuleError) as caught:
        rule_register(document=document, actor="test")
    assert caught.value.attr == path
    with pytest.raises(InvalidRuleError) as caught:
        rules_load(documents=[{"name": "good"}, document], actor="test")
    assert caught.value.attr == f"rules.1.{path}"
    assert everything()[0] == before[0]
    assert everything()[1:] == before[1:]


def test_a_circle_through_an_update_is_refused() -> None:
    register("a")
    register("b", extends="a")
    before = everything()
    with pytest.raises(InvalidRuleError, match="circle") as caught:
        update("a", extends="b")
    assert caught.value.attr == "extends"
    assert everything() == before


def test_change_that_would_break_rule_that_extends_it_is_refused() -> None:
    register("base")
    register("leaf", extends="base", conditions={"importance_range": {"min": 0.5}})
    before = everything()
    with pytest.raises(InvalidRuleError, match="'leaf', which extends this one"):
        update("base", conditions={"importance_range": {"max": 0.4}})
    assert everything() == before


def test_a_name_is_taken_once() -> None:
    register("mine")
    for name in ("mine", "default", "inferred"):
        with pytest.raises(ConflictError) as caught:
            register(name)
        assert caught.value.attr == "name"


def test_a_rule_that_others_extend_is_not_deleted() -> None:
    register("base")
    register("leaf", extends="base")
    with pytest.raises(ConflictError, match="leaf"):
        rule_delete(name="base", actor="test")
    rule_delete(name="leaf", actor="test")
    rule_delete(name="base", actor="test")


@pytest.mark.parametrize("name", ["default", "inferred"])
def test_built_in_rule_is_edited_but_not_deleted(name: str) -> None:
    update(name, merge={"boost_amount": 0.25})
    assert selectors.rule_resolved(SYSTEM, name).merge.boost_amount == 0.25
    with pytest.raises(ConflictError, match="built in"):
        rule_delete(name=name, actor="test")


def test_rule_that_is_not_there_is_neither_changed_nor_deleted() -> None:
    for attempt in (lambda: update("ghost"), lambda: rule_delete(name="ghost", actor="test")):
        with pytest.raises(NotFoundError):
            attempt()


def test_a_rule_keeps_its_name() -> None:
    register("mine")
    with pytest.raises(InvalidRuleError) as caught:
        rule_update(name="mine", changes={"name": "yours"}, actor="test")
    assert caught.value.attr == "name"


def test_update_that_expects_another_version_is_refused() -> None:
    register("mine")
    seen = MergeRule.objects.get(name="mine").version
    rule_update(name="mine", changes={"priority": 1}, actor="test", expected_version=seen)
    for attempt in (rule_update, rule_delete):
        options = {"changes": {"priority": 2}} if attempt is rule_update else {}
        with pytest.raises(ConflictError) as caught:
            attempt(name="mine", actor="test", expected_version=seen, **options)  # type: ignore[operator]
        assert caught.value.code == "version"
    assert selectors.rule_get(SYSTEM, "mine")["priority"] == 1


def test_null_makes_a_rule_inherit_again() -> None:
    register("base", priority=7)
    register("leaf", extends="base", priority=1, merge={"boost_amount": 0.3})
    update("leaf", priority=None, merge={"boost_amount": None})
    assert selectors.rule_resolved(SYSTEM, "leaf").priority == 7
    assert selectors.rule_get(SYSTEM, "leaf") == {"name": "leaf", "extends": "base", "merge": {}}


def test_rule_given_twice_in_one_load_is_refused() -> None:
    with pytest.raises(InvalidRuleError) as caught:
        rules_load(documents=[{"name": "a"}, {"name": "b"}, {"name": "a"}], actor="test")
    assert caught.value.attr == "rules.2.name"


# --- history --------------------------------------------------------------------------------------------


def test_every_change_is_in_history_with_what_was_before_and_after() -> None:
    register("mine", priority=3)
    update("mine", priority=4)
    rule_delete(name="mine", actor="ana")
    steps = [(step.action, step.before, step.after, step.actor) for step in selectors.rule_history("mine")]
    first, second = {"name": "mine", "priority": 3}, {"name": "mine", "priority": 4}
    assert steps == [
        ("deleted", second, None, "ana"),
        ("updated", first, second, "test"),
        ("registered", None, first, "test"),
    ]


def test_earlier_version_is_restored_and_deletion_undone() -> None:
    register("mine", priority=3)
    first = selectors.registry_version()
    update("mine", priority=4)
    rule_restore(version=first, actor="test")
    assert selectors.rule_get(SYSTEM, "mine")["priority"] == 3
    rule_delete(name="mine", actor="test")
    rule_restore(version=selectors.registry_version(), actor="test")
    assert selectors.rule_get(SYSTEM, "mine")["priority"] == 3
    assert [name for name, _ in told()][-3:] == ["rule:updated", "rule:deleted", "rule:registered"]
    assert [step.action for step in selectors.rule_history("mine")][:2] == ["restored", "deleted"]


def test_version_that_does_not_fit_any_more_is_not_restored() -> None:
    register("base")
    register("leaf", extends="base")
    extending = selectors.registry_version()
    update("leaf", extends=None)
    rule_delete(name="base", actor="test")
    with pytest.raises(InvalidRuleError, match="no rule 'base'"):
        rule_restore(version=extending, actor="test")


def test_a_version_that_never_was_is_not_restored() -> None:
    with pytest.raises(NotFoundError):
        rule_restore(version=999, actor="test")


# --- what every process sees --------------------------------------------------------------------------------


def test_change_by_another_process_is_seen_at_next_use() -> None:
    register("mine", priority=3)
    assert selectors.rule_resolved(SYSTEM, "mine").priority == 3
    mine = registry._known
    update("mine", priority=4)
    selectors.active_rules()
    registry._known = mine  # what another process still has in memory
    assert selectors.rule_resolved(SYSTEM, "mine").priority == 4


def test_rules_that_have_not_changed_are_not_read_again(django_assert_num_queries: Any) -> None:
    known = selectors.active_rules()
    with django_assert_num_queries(1):
        assert selectors.active_rules() is known


def test_what_was_rolled_back_is_forgotten_even_when_its_version_comes_again() -> None:
    try:
        with transaction.atomic():
            register("mine", priority=3)
            assert selectors.rule_resolved(SYSTEM, "mine").priority == 3
            raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    register("mine", priority=4)
    assert selectors.rule_resolved(SYSTEM, "mine").priority == 4


def test_stored_rule_that_cannot_be_used_any_more_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    register("old", priority=50)
    register("leaf", extends="old", priority=60)
    with connection.cursor() as cursor:
        cursor.execute("""UPDATE rules_mergerule SET document = '{"name": "old", "gone": 1}' WHERE name = 'old'""")
    registry._known = None
    assert selectors.active_rules().broken == {
        "old": "gone: Unknown field.",
        "leaf": "extends: There is no rule 'old', which 'leaf' extends.",
    }
    assert selectors.find_matching_rule(record(), record()).rule.name == "default"
    assert "'old' cannot be used" in caplog.text
    update("leaf", extends=None)
    assert selectors.find_matching_rule(record(), record()).rule.name == "leaf"


def test_without_its_row_default_rule_is_there_all_same() -> None:
    MergeRule.objects.all().delete()
    RegistryVersion.objects.all().delete()
    registry._known = None
    assert selectors.find_matching_rule(record(), record()).rule.name == "default"
    register("mine")
    assert selectors.registry_version() == 1


# --- who may know of which rule -----------------------------------------------------------------------------


def known_to(**bound: str) -> set[str]:
    access = Access(Scope(**bound), Permission.READ, "test")
    names = {rule.name for rule in selectors.rules_visible(access)}
    assert names == {rule["name"] for rule in selectors.rules_export(access)}
    for name in selectors.active_rules().rules.keys() - names:
        for read in (selectors.rule_get, selectors.rule_resolved):
            with pytest.raises(NotFoundError):
                read(access, name)
    return names - {"default", "inferred"}


def test_key_sees_only_rules_within_its_bound() -> None:
    register("all", priority=1)
    register("ana", conditions={"user_id": "ana"})
    register("ben", conditions={"user_id": "ben"}, priority=10)
    register("chef", conditions={"persona_id": "chef"})
    register("home", conditions={"household_id": "home"})
    register("both", conditions={"user_id": "ana", "persona_id": "chef"})
    register("heir", extends="ben", conditions={"user_id": "ana"})
    every = {"all", "ana", "ben", "chef", "home", "both", "heir"}
    assert known_to() == every
    assert known_to(user_id="ana") == {"all", "ana"}
    assert known_to(persona_id="chef") == {"all", "chef"}
    assert known_to(user_id="ana", persona_id="chef") == {"all", "ana", "chef", "both"}
    assert known_to(household_id="home") == {"all", "home"}
    assert known_to(household_id="away") == {"all"}


def test_rule_that_key_may_not_know_of_is_not_matched_for_it() -> None:
    register("ben", conditions={"user_id": "ben"}, priority=10)
    bound = Access(Scope(household_id="home"), Permission.READ, "test")
    assert selectors.find_matching_rule(record(user_id="ben"), record(), bound).rule.name == "default"
    assert selectors.find_matching_rule(record(user_id="ben"), record()).rule.name == "ben"
