"""Rule documents: what is refused and where, how rules inherit, and which one matches."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.rules.domain.documents.inheritance import deep_merge, resolve, resolve_document
from apps.rules.domain.documents.json_schema import rule_schema, setting_schemas
from apps.rules.domain.documents.problems import InvalidRuleError
from apps.rules.domain.documents.rule import (
    BUILT_IN,
    DEFAULT_RULE,
    INFERRED_RULE,
    RuleConfig,
    match,
    rule_from_document,
)
from apps.rules.domain.documents.validate import validate_document
from apps.rules.domain.engine.arbitration import ArbitrationConfig, DefaultStrategy
from apps.rules.domain.engine.merge import MergeConfig
from apps.rules.domain.engine.signals import DetectionConfig, SignalType
from tests.unit.rules.records import record


def document(**sections: Any) -> dict[str, Any]:
    return {"name": "mine", **sections}


def problems(given: Any) -> dict[str, str]:
    with pytest.raises(InvalidRuleError) as caught:
        rule_from_document(validate_document(given))
    return dict(caught.value.problems)


# --- what is refused, and where -------------------------------------------------------------------------

DEEP: Any = "x"
for _ in range(5_000):
    DEEP = {"a": DEEP}

BAD: list[tuple[str, Any, str]] = [
    ("no object", [1], ""),
    ("null", None, ""),
    ("no name", {"priority": 1}, "name"),
    ("an empty name", {"name": ""}, "name"),
    ("a name too long", {"name": "n" * 101}, "name"),
    ("a name with a slash", {"name": "a/b"}, "name"),
    ("a name with a line break", {"name": "a\nb"}, "name"),
    ("a name with a space at its end", {"name": "a "}, "name"),
    ("a name that is a number", {"name": 7}, "name"),
    ("a name that is an address", {"name": "export"}, "name"),
    ("a lone surrogate in the name", {"name": "a\ud800"}, "name"),
    ("an unknown field", document(colour="red"), "colour"),
    ("an unknown field in a section", document(arbitration={"luck": 1}), "arbitration.luck"),
    ("an unknown weight", document(arbitration={"weights": {"luck": 1}}), "arbitration.weights.luck"),
    ("an unknown signal", document(detection={"weights": {"smell": 1}}), "detection.weights.smell"),
    ("a section that is a list", document(merge=[]), "merge"),
    ("a section that is text", document(merge="smart"), "merge"),
    ("an unknown strategy", document(merge={"content_strategy": "shuffle"}), "merge.content_strategy"),
    (
        "an unknown metadata strategy",
        document(merge={"metadata_strategy": {"keywords": "all"}}),
        "merge.metadata_strategy.keywords",
    ),
    ("an unknown default", document(arbitration={"default_strategy": "coin"}), "arbitration.default_strategy"),
    ("a threshold below its range", document(detection={"semantic_threshold": -0.1}), "detection.semantic_threshold"),
    ("a threshold above its range", document(arbitration={"merge_threshold": 1.1}), "arbitration.merge_threshold"),
    ("a threshold as text", document(detection={"keyword_threshold": "0.5"}), "detection.keyword_threshold"),
    ("a threshold that is true", document(detection={"keyword_threshold": True}), "detection.keyword_threshold"),
    ("a threshold that is no number", document(merge={"boost_amount": float("nan")}), "merge.boost_amount"),
    ("an infinite window", document(detection={"time_window_seconds": float("inf")}), "detection.time_window_seconds"),
    ("a negative window", document(detection={"time_window_seconds": -1}), "detection.time_window_seconds"),
    ("a number of 400 digits", document(merge={"boost_amount": 10**400}), "merge.boost_amount"),
    ("a negative weight", document(arbitration={"weights": {"source": -1}}), "arbitration.weights.source"),
    (
        "weights that sum to zero",
        document(arbitration={"weights": dict.fromkeys(("importance", "recency", "source", "semantic"), 0)}),
        "arbitration.weights",
    ),
    (
        "signal weights that sum to zero",
        document(detection={"weights": dict.fromkeys(map(str, SignalType), 0)}),
        "detection.weights",
    ),
    ("a flag that is a number", document(arbitration={"allow_merge": 1}), "arbitration.allow_merge"),
    ("a priority with a fraction", document(priority=1.5), "priority"),
    ("a priority beyond its range", document(priority=10**7), "priority"),
    ("enabled as text", document(enabled="yes"), "enabled"),
    ("a description too long", document(description="d" * 2_001), "description"),
    ("a NUL character", document(description="a\x00b"), "description"),
    ("a user that is blank", document(conditions={"user_id": " "}), "conditions.user_id"),
    ("a user that is a list", document(conditions={"user_id": ["ana"]}), "conditions.user_id"),
    ("a source that is blank", document(conditions={"source": ["user", ""]}), "conditions.source"),
    ("a range that is a number", document(conditions={"importance_range": 1}), "conditions.importance_range"),
    (
        "a range beyond 1",
        document(conditions={"importance_range": {"max": 2}}),
        "conditions.importance_range.max",
    ),
    (
        "a range upside down",
        document(conditions={"importance_range": {"min": 0.7, "max": 0.2}}),
        "conditions.importance_range.min",
    ),
    ("extends a number", document(extends=3), "extends"),
    ("1 MB of JSON", document(description="d" * 2**20), "description"),
    ("1 MB of unknown fields", document(merge={f"field{n}": n for n in range(70_000)}), "merge"),
    ("nesting without end", document(merge=DEEP), "merge"),
    ("a default rule that extends another", {"name": "default", "extends": "mine"}, "extends"),
    ("a default rule with conditions", {"name": "default", "conditions": {"user_id": "ana"}}, "conditions"),
    ("a default rule that is disabled", {"name": "default", "enabled": False}, "enabled"),
]


@pytest.mark.parametrize(("given_document", "path"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_document_is_refused_with_path_of_field(given_document: Any, path: str) -> None:
    found = problems(given_document)
    assert path in found
    assert all(message and len(message) < 300 for message in found.values())


def test_every_problem_is_named_at_once() -> None:
    bad = document(priority="high", merge={"boost_amount": 2}, detection={"smell": 1})
    assert set(problems(bad)) == {"priority", "merge.boost_amount", "detection.smell"}


@pytest.mark.parametrize("name", ["a", "n" * 100, "vip users", "überregel", "规则", "a.b-c_d", "conflicts"])
def test_a_name_may_be_any_printable_text(name: str) -> None:
    assert validate_document({"name": name}) == {"name": name}


# --- reading and writing --------------------------------------------------------------------------------


def test_what_document_leaves_out_has_its_default() -> None:
    rule = rule_from_document(validate_document({"name": "mine", "merge": {"boost_amount": 0.3}}))
    assert rule.merge == MergeConfig(boost_amount=0.3)
    assert rule.arbitration == ArbitrationConfig()
    assert rule.detection == DetectionConfig()
    assert (rule.enabled, rule.priority, rule.extends) == (True, 0, None)


def test_every_setting_has_sentence_of_help_and_sound_default() -> None:
    settings = setting_schemas()
    assert len(settings) > 35
    for path, schema in settings.items():
        assert schema["description"].endswith("."), path
    assert validate_document({**RuleConfig(name="mine").to_document()})


def test_sections_may_be_null_as_their_schema_says() -> None:
    sections = {name: one for name, one in rule_schema()["properties"].items() if one.get("type") == "object"}
    assert sections.keys() == {"conditions", "detection", "arbitration", "merge"}
    inner = [one for section in sections.values() for one in section["properties"].values() if "properties" in one]
    assert all(one["nullable"] for one in [*sections.values(), *inner])
    empty = dict.fromkeys(sections)
    assert rule_from_document(validate_document(document(**empty))).arbitration == ArbitrationConfig()


def test_every_field_of_configurations_can_be_set() -> None:
    paths = setting_schemas()
    for section, kind in (("detection", DetectionConfig), ("arbitration", ArbitrationConfig), ("merge", MergeConfig)):
        for name in kind.model_fields:
            assert any(path.startswith(f"{section}.{name}") for path in paths)


def values_of(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "oneOf" in schema:
        return st.sampled_from(["user", ["user", "skill"]])
    if "enum" in schema:
        return st.sampled_from([choice for choice in schema["enum"] if choice is not None])
    match schema["type"]:
        case "boolean":
            return st.booleans()
        case "number":
            return st.floats(schema["minimum"] or 0.001, schema["maximum"])
        case "integer":
            return st.integers(schema["minimum"], schema["maximum"])
    return st.sampled_from(["ana", "ben"])


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for path, schema in setting_schemas().items():
        if not path.startswith(("name", "extends", "conditions.importance_range")) and draw(st.booleans()):
            *groups, name = path.split(".")
            place = chosen
            for group in groups:
                place = place.setdefault(group, {})
            place[name] = draw(values_of(schema))
    return {"name": "mine", **chosen}


@given(documents())
def test_rule_written_as_document_reads_as_same_rule(given_document: dict[str, Any]) -> None:
    rule = rule_from_document(validate_document(given_document))
    assert rule_from_document(validate_document(rule.to_document())) == rule


@given(documents(), documents(), documents())
def test_deep_merging_is_associative_and_changes_none_of_its_arguments(
    one: dict[str, Any], two: dict[str, Any], three: dict[str, Any]
) -> None:
    before = repr((one, two, three))
    assert deep_merge(deep_merge(one, two), three) == deep_merge(one, deep_merge(two, three))
    assert deep_merge(one, one) == one
    assert repr((one, two, three)) == before


# --- inheritance ----------------------------------------------------------------------------------------


def family(**rules: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: validate_document({"name": name, **rule}) for name, rule in rules.items()}


def test_scenario_rule_inheritance() -> None:
    rules = family(
        base={"priority": 7, "arbitration": {"merge_threshold": 0.3, "weights": {"source": 0.5}}},
        middle={"extends": "base", "arbitration": {"weights": {"recency": 0.9}}, "merge": {"boost_amount": 0.2}},
        leaf={"extends": "middle", "merge": {"deduplicate": False}},
    )
    leaf = resolve("leaf", rules)
    assert (leaf.name, leaf.extends, leaf.priority) == ("leaf", "middle", 7)
    assert leaf.arbitration.merge_threshold == 0.3
    assert (leaf.arbitration.weights.source, leaf.arbitration.weights.recency) == (0.5, 0.9)
    assert leaf.arbitration.weights.importance == 0.4
    assert (leaf.merge.boost_amount, leaf.merge.deduplicate) == (0.2, False)


def test_what_rule_says_overrides_what_it_inherits() -> None:
    rules = family(base={"priority": 7, "enabled": False}, leaf={"extends": "base", "priority": 1, "enabled": True})
    assert (resolve("leaf", rules).priority, resolve("leaf", rules).enabled) == (1, True)


def test_an_inherited_condition_can_be_taken_away() -> None:
    rules = family(base={"conditions": {"user_id": "ana", "source": "skill"}}, leaf={"extends": "base"})
    rules["leaf"] = validate_document({**rules["leaf"], "conditions": {"user_id": None}})
    assert resolve("leaf", rules).conditions.user_id is None
    assert resolve("leaf", rules).conditions.source == ("skill",)


def test_inheritance_reaches_over_thousand_levels() -> None:
    rules = family(r0={"priority": 5}, **{f"r{n}": {"extends": f"r{n - 1}"} for n in range(1, 1_000)})
    assert resolve("r999", rules).priority == 5


@pytest.mark.parametrize(
    "rules",
    [
        {"a": {"extends": "a"}},
        {"a": {"extends": "b"}, "b": {"extends": "a"}},
        {"a": {"extends": "b"}, "b": {"extends": "c"}, "c": {"extends": "b"}},
    ],
    ids=["itself", "two", "further up"],
)
def test_a_circle_is_refused(rules: dict[str, Any]) -> None:
    with pytest.raises(InvalidRuleError, match="circle") as caught:
        resolve("a", family(**rules))
    assert caught.value.attr == "extends"


def test_a_missing_base_is_refused() -> None:
    with pytest.raises(InvalidRuleError, match="no rule 'ghost'") as caught:
        resolve("a", family(a={"extends": "b"}, b={"extends": "ghost"}))
    assert caught.value.attr == "extends"


def test_weights_are_summed_over_what_is_inherited() -> None:
    rules = family(
        base={"arbitration": {"weights": {"importance": 0, "recency": 0, "source": 0}}},
        leaf={"extends": "base", "arbitration": {"weights": {"semantic": 0}}},
    )
    assert resolve("base", rules)
    with pytest.raises(InvalidRuleError, match="positive number"):
        resolve("leaf", rules)


# --- matching -------------------------------------------------------------------------------------------


def chosen(rules: dict[str, dict[str, Any]], **fields: Any) -> str | None:
    found = match([resolve(name, rules) for name in rules], record(**fields))
    return found and found.name


def test_scenario_conditional_rule_matching() -> None:
    rules = family(
        default={"priority": 1000},
        low={"priority": 1},
        ana={"priority": 5, "conditions": {"user_id": "ana"}},
        chef={"priority": 9, "conditions": {"user_id": "ana", "persona_id": "chef"}},
        off={"priority": 99, "enabled": False},
        skill={"priority": 7, "conditions": {"source": ["skill", "System"]}},
        vital={"priority": 8, "conditions": {"importance_range": {"min": 0.9}}},
    )
    assert chosen(rules) == "ana"
    assert chosen(rules, user_id="ben") == "low"
    assert chosen(rules, persona_id="chef") == "chef"
    assert chosen(rules, user_id="ben", persona_id="chef") == "low"
    assert chosen(rules, source="SYSTEM") == "skill"
    assert chosen(rules, importance=0.9) == "vital"
    assert chosen(rules, importance=0.89) == "ana"


def test_of_equal_priority_first_by_name_matches() -> None:
    assert chosen(family(b={}, a={}, c={})) == "a"


def test_when_nothing_matches_default_rule_is_left() -> None:
    assert chosen(family(default={}, ben={"conditions": {"user_id": "ben"}})) is None


def test_a_range_includes_both_ends() -> None:
    rules = family(a={"conditions": {"importance_range": {"min": 0.2, "max": 0.4}}})
    assert [chosen(rules, importance=value) for value in (0.1, 0.2, 0.4, 0.41)] == [None, "a", "a", None]


# --- the built-in rules ---------------------------------------------------------------------------------


def test_built_in_rules_are_sound_and_default_is_made_of_defaults() -> None:
    rules = {name: validate_document(dict(rule)) for name, rule in BUILT_IN.items()}
    default = resolve(DEFAULT_RULE, rules)
    assert default.model_copy(update={"description": ""}) == RuleConfig(name=DEFAULT_RULE)
    assert default.arbitration.default_strategy is DefaultStrategy.KEEP_CANDIDATE


def test_what_was_inferred_is_never_decided_by_recency_against_better_source() -> None:
    rules = {name: validate_document(dict(rule)) for name, rule in BUILT_IN.items()}
    found = match([resolve(name, rules) for name in rules], record(source="inferred"))
    assert found is not None
    assert found.name == INFERRED_RULE
    assert (found.arbitration.priority_recency, found.arbitration.priority_source) == (False, True)
    assert match([found], record(source="user")) is None


def with_guard(**rules: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {**{name: validate_document(dict(rule)) for name, rule in BUILT_IN.items()}, **family(**rules)}


def test_rule_with_user_condition_leaves_guard_on_guesses_on() -> None:
    rules = with_guard(ana={"priority": 100, "conditions": {"user_id": "ana"}}, all={"priority": 99})
    assert chosen(rules) == "ana"
    assert chosen(rules, source="inferred") == INFERRED_RULE
    assert chosen(rules, user_id="ben") == "all"
    assert chosen(rules, user_id="ben", source=" Inferred ") == INFERRED_RULE


@pytest.mark.parametrize("source", ["inferred", ["user", "Inferred"]])
def test_rule_that_names_inferred_replaces_guard(source: Any) -> None:
    rules = with_guard(ana={"conditions": {"user_id": "ana", "source": source}}, all={"priority": 9})
    assert chosen(rules, source="inferred") == "ana"
    assert chosen(rules, user_id="ben", source="inferred") == INFERRED_RULE


def test_rule_that_extends_guard_names_inferred_as_well() -> None:
    rules = with_guard(ana={"extends": INFERRED_RULE, "priority": 1, "conditions": {"user_id": "ana"}})
    assert chosen(rules, source="inferred") == "ana"


def test_guard_that_is_disabled_guards_nothing() -> None:
    rules = with_guard(ana={"conditions": {"user_id": "ana"}})
    rules[INFERRED_RULE] = {**rules[INFERRED_RULE], "enabled": False}
    assert chosen(rules, source="inferred") == "ana"


def test_rule_is_conditioned_on_household() -> None:
    rules = family(
        home={"priority": 2, "conditions": {"household_id": "home"}},
        chef={"priority": 3, "conditions": {"household_id": "home", "persona_id": "chef"}},
    )
    assert chosen(rules) is None
    assert chosen(rules, household_id="away") is None
    assert chosen(rules, household_id="home") == "home"
    assert chosen(rules, household_id="home", persona_id="chef") == "chef"


def test_a_rule_inherits_neither_name_nor_base() -> None:
    rules = family(base={}, leaf={"extends": "base"})
    assert resolve_document("leaf", rules) == {"name": "leaf", "extends": "base"}
    assert resolve_document("base", rules)["extends"] is None
