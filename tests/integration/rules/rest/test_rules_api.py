"""Merge rules over REST."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from apps.core.domain.scope import Permission, Scope
from apps.rules.models import MergeRule, MergeRuleVersion
from tests.api import Api, api_for, error_attrs
from tests.timing import assert_quick

pytestmark = pytest.mark.django_db

RULES = "/api/rules"
DOCUMENT = {"name": "mine", "priority": 3, "arbitration": {"merge_threshold": 0.3, "weights": {"source": 0.5}}}


@pytest.fixture
def operator() -> Api:
    return api_for(Scope(), Permission.OPERATOR)


def registered(api: Api, name: str, **sections: Any) -> dict[str, Any]:
    response = api.post(RULES, {"name": name, **sections})
    assert response.status_code == 201, response.content
    answer: dict[str, Any] = response.json()
    return answer


def version(api: Api) -> int:
    return int(api.get(f"{RULES}/export").json()["version"])


def test_rule_is_registered_and_answered_with_all_that_it_inherits(operator: Api) -> None:
    before = version(operator)
    answer = registered(operator, **DOCUMENT)
    assert answer["arbitration"]["merge_threshold"] == 0.3
    assert answer["arbitration"]["weights"] == {"importance": 0.4, "recency": 0.3, "source": 0.5, "semantic": 0.1}
    assert answer["merge"]["deduplicate_threshold"] == 0.8
    assert (answer["version"], answer["rule_version"]) == (before + 1, before + 1)
    assert operator.get(f"{RULES}/mine").json() == answer


def test_raw_shows_a_rule_as_it_was_given(operator: Api) -> None:
    registered(operator, **DOCUMENT)
    answer = operator.get(f"{RULES}/mine?raw=1").json()
    assert answer == {**DOCUMENT, "version": answer["version"], "rule_version": answer["version"]}


@pytest.mark.parametrize("name", ["vip users", "规则", "a.b", "100%", "a?b#c", "conflicts"])
def test_any_name_can_be_asked_for(operator: Api, name: str) -> None:
    registered(operator, name)
    assert operator.get(f"{RULES}/{quote(name)}").json()["name"] == name
    assert operator.delete(f"{RULES}/{quote(name)}").status_code == 204


def test_list_is_in_order_in_which_rules_are_asked(operator: Api) -> None:
    registered(operator, "low", priority=-5)
    registered(operator, "high", priority=5)
    answer = operator.get(RULES).json()
    assert [rule["name"] for rule in answer["results"]] == ["high", "default", "low", "inferred"]
    assert (answer["count"], answer["version"]) == (4, version(operator))
    assert "merge" not in operator.get(f"{RULES}?raw=true").json()["results"][0]


def test_an_update_is_merged_deeply(operator: Api) -> None:
    registered(operator, **DOCUMENT)
    response = operator.call("PATCH", f"{RULES}/mine", {"arbitration": {"weights": {"recency": 0.9}}})
    assert response.status_code == 200
    assert response.json()["arbitration"]["weights"] == {
        "importance": 0.4, "recency": 0.9, "source": 0.5, "semantic": 0.1,
    }  # fmt: skip
    assert response.json()["arbitration"]["merge_threshold"] == 0.3


def test_update_of_version_that_is_gone_is_conflict(operator: Api) -> None:
    seen = registered(operator, **DOCUMENT)["rule_version"]
    address = f"{RULES}/mine?expected_version={seen}"
    assert operator.call("PATCH", address, {"priority": 4}).status_code == 200
    response = operator.call("PATCH", address, {"priority": 5})
    assert response.status_code == 409
    assert error_attrs(response) == ["expected_version"]
    assert operator.delete(address).status_code == 409
    assert operator.get(f"{RULES}/mine").json()["priority"] == 4


def test_deleting_a_rule_ends_it(operator: Api) -> None:
    registered(operator, **DOCUMENT)
    assert operator.delete(f"{RULES}/mine").status_code == 204
    assert operator.get(f"{RULES}/mine").status_code == 404
    assert operator.delete(f"{RULES}/mine").status_code == 404


def test_rule_in_use_and_built_in_one_are_not_deleted(operator: Api) -> None:
    registered(operator, "base")
    registered(operator, "leaf", extends="base")
    for name, code in (("base", "extended"), ("default", "built_in")):
        response = operator.delete(f"{RULES}/{name}")
        assert response.status_code == 409
        assert response.json()["errors"][0]["code"] == code


def test_a_second_rule_of_a_name_is_a_conflict(operator: Api) -> None:
    registered(operator, **DOCUMENT)
    response = operator.post(RULES, DOCUMENT)
    assert response.status_code == 409
    assert error_attrs(response) == ["name"]


def test_export_and_load_round_trip_with_extends(operator: Api) -> None:
    registered(operator, "base", priority=2)
    registered(operator, "leaf", extends="base", conditions={"user_id": "ana"})
    exported = operator.get(f"{RULES}/export").json()
    assert {"name": "leaf", "extends": "base", "conditions": {"user_id": "ana"}} in exported["rules"]
    for name in ("leaf", "base"):
        operator.delete(f"{RULES}/{name}")
    for body in (exported, {"rules": exported["rules"]}, exported["rules"]):
        response = operator.post(f"{RULES}/load", body)
        assert response.status_code == 200, response.content
        assert response.json()["count"] == 4
        assert response.json()["version"] == version(operator)
        assert operator.get(f"{RULES}/export").json()["rules"] == exported["rules"]
    assert operator.get(f"{RULES}/leaf").json()["priority"] == 2


def test_a_load_with_one_bad_rule_changes_nothing(operator: Api) -> None:
    before = operator.get(f"{RULES}/export").json()
    bad = {"name": "bad", "merge": {"boost_amount": 2}}
    response = operator.post(f"{RULES}/load", {"rules": [{"name": "good"}, bad]})
    assert response.status_code == 400
    assert error_attrs(response) == ["rules.1.merge.boost_amount"]
    assert operator.get(f"{RULES}/export").json() == before


@pytest.mark.parametrize(
    ("body", "attr"),
    [
        ({"name": "bad", "merge": {"content_strategy": "shuffle"}}, "merge.content_strategy"),
        ({"name": "bad", "arbitration": {"weights": {"luck": 1}}}, "arbitration.weights.luck"),
        ({"name": "bad", "detection": {"semantic_threshold": 2}}, "detection.semantic_threshold"),
        ({"name": "bad", "extends": "bad"}, "extends"),
        ({"name": "bad", "extends": "ghost"}, "extends"),
        ({"name": "x" * 101}, "name"),
        ({"name": "bad", "description": "d" * 2**20}, "description"),
        ({"priority": 1}, "name"),
        ([], "rule"),
        (None, "name"),
        ("text", "rule"),
    ],
)
def test_bad_rule_is_refused_with_path_of_field(operator: Api, body: Any, attr: str) -> None:
    before = version(operator)
    response = operator.post(RULES, "" if body is None else json.dumps(body))
    assert response.status_code == 400
    assert attr in error_attrs(response)
    assert len(response.content) < 3_000
    assert version(operator) == before


def test_every_problem_of_rule_is_answered_at_once(operator: Api) -> None:
    response = operator.post(RULES, {"name": "bad", "priority": "high", "merge": {"boost_amount": 2}})
    assert sorted(error_attrs(response)) == ["merge.boost_amount", "priority"]
    assert {error["code"] for error in response.json()["errors"]} == {"invalid_rule"}


def test_a_bad_update_is_refused_with_its_path(operator: Api) -> None:
    registered(operator, **DOCUMENT)
    for body, attr in (
        ({"merge": {"boost_amount": 2}}, "merge.boost_amount"),
        ({"name": "yours"}, "name"),
        ({"extends": "mine"}, "extends"),
        ([], "rule"),
    ):
        response = operator.call("PATCH", f"{RULES}/mine", body)
        assert (response.status_code, error_attrs(response)) == (400, [attr])
    assert MergeRuleVersion.objects.filter(rule_name="mine").count() == 1


def test_the_rule_that_matches_is_found(operator: Api) -> None:
    registered(operator, "ana", conditions={"user_id": "ana"})
    answer = operator.post(f"{RULES}/match", {"candidate": {"user_id": "ana"}}).json()
    assert (answer["name"], answer["rule"]["conditions"]["user_id"]) == ("ana", "ana")
    assert answer["version"] == version(operator)
    other = {"candidate": {"user_id": "ben", "content": "tea"}, "existing": {"content": "coffee"}}
    assert operator.post(f"{RULES}/match", other).json()["name"] == "default"


# --- who may ----------------------------------------------------------------------------------------------

CHANGES = [
    ("POST", RULES, {"name": "new"}),
    ("PATCH", f"{RULES}/mine", {"priority": 9}),
    ("DELETE", f"{RULES}/mine", None),
    ("POST", f"{RULES}/load", {"rules": [{"name": "new"}]}),
]


@pytest.mark.parametrize(("method", "path", "body"), CHANGES)
def test_only_an_operator_changes_rules(operator: Api, method: str, path: str, body: Any) -> None:
    registered(operator, **DOCUMENT)
    before = list(MergeRule.objects.order_by("id").values())
    for permission in (Permission.READ, Permission.WRITE):
        assert api_for(Scope(), permission).call(method, path, body).status_code == 403
    assert list(MergeRule.objects.order_by("id").values()) == before
    assert operator.call(method, path, body).status_code in {200, 201, 204}


def test_a_reader_reads_matches_and_evaluates(operator: Api) -> None:
    registered(operator, **DOCUMENT)
    reader = api_for(Scope(user_id="ana"), Permission.READ)
    for path in (RULES, f"{RULES}/mine", f"{RULES}/export"):
        assert reader.get(path).status_code == 200
    assert reader.post(f"{RULES}/match", {"candidate": {}}).json()["name"] == "mine"


def test_rule_of_household_is_matched_by_its_memories(operator: Api) -> None:
    answer = registered(operator, "home", conditions={"household_id": "home"})
    assert answer["conditions"]["household_id"] == "home"
    reader = api_for(Scope(household_id="home"), Permission.READ)
    assert reader.post(f"{RULES}/match", {"candidate": {}}).json()["name"] == "home"
    for household in ("away", None):
        body = {"candidate": {"user_id": "ana", **({"household_id": household} if household else {})}}
        assert operator.post(f"{RULES}/match", body).json()["name"] == "default"


def test_key_learns_nothing_of_rules_about_others(operator: Api) -> None:
    ana = api_for(Scope(user_id="ana"), Permission.READ)

    def seen() -> list[Any]:
        calls = [ana.get(RULES), ana.get(f"{RULES}?raw=1"), ana.get(f"{RULES}/export"), ana.get(f"{RULES}/secret")]
        calls.append(ana.post(f"{RULES}/match", {"candidate": {}}))
        calls.append(ana.post(f"{RULES}/evaluate", {"candidate": TEA, "existing": TEA}))
        return [(call.status_code, call.content) for call in calls]

    before = seen()
    registered(operator, "secret", conditions={"user_id": "ben"}, priority=50)
    registered(operator, "hidden", conditions={"persona_id": "chef"}, priority=51)
    registered(operator, "away", conditions={"household_id": "away"}, priority=52)
    assert seen() == before
    assert ana.get(f"{RULES}/secret").content == ana.get(f"{RULES}/ghost").content


def test_bound_key_cannot_ask_in_name_of_another(operator: Api) -> None:
    ana = api_for(Scope(user_id="ana"), Permission.READ)
    response = ana.post(f"{RULES}/match", {"candidate": {"user_id": "ben"}})
    assert (response.status_code, error_attrs(response)) == (403, ["candidate.user_id"])


# --- trying out -------------------------------------------------------------------------------------------

TEA = {"content": "Ana drinks green tea every morning.", "occurred_at": "2026-03-01T12:00:00Z"}
NOTHING_FIRST = {"priority_importance": False, "priority_recency": False, "priority_source": False}


def evaluated(api: Api, candidate: Any, existing: Any, **more: Any) -> dict[str, Any]:
    body = {"candidate": {**TEA, **candidate}, "existing": {**TEA, **existing}, **more}
    response = api.post(f"{RULES}/evaluate", body)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def under(**arbitration: Any) -> dict[str, Any]:
    return {"arbitration": {**NOTHING_FIRST, **arbitration}}


def test_evaluate_says_which_memory_wins_and_why(operator: Api) -> None:
    answer = evaluated(operator, {"occurred_at": "2026-03-02T12:00:00Z"}, {})
    assert answer["arbitration"]["action"] == "keep"
    assert (answer["arbitration"]["winner"], answer["arbitration"]["loser"]) == ("candidate", "existing")
    assert answer["arbitration"]["confidence"] == pytest.approx(0.75)
    assert "newer" in answer["arbitration"]["reason"]
    assert {signal["type"] for signal in answer["signals"]} >= {"semantic", "keyword"}
    assert (answer["rule"], answer["conflict"], answer["merge"]) == ("default", True, None)


def test_evaluate_shows_what_a_merge_would_give(operator: Api) -> None:
    more = {"content": "Ana drinks green tea every morning. She buys it in Kyoto.", "importance": 0.7}
    answer = evaluated(
        operator, more, {"keywords": ["tea"]}, config={**under(), "detection": {"keyword_threshold": 0.1}}
    )
    assert answer["arbitration"] == {
        "action": "merge", "winner": None, "loser": None, "strategy": "multi-factor",
        "confidence": answer["arbitration"]["confidence"], "reason": answer["arbitration"]["reason"],
    }  # fmt: skip
    merged = answer["merge"]
    assert merged["content"].count("Ana drinks green tea every morning.") == 1
    assert merged["content"].endswith("She buys it in Kyoto.")
    assert (merged["importance"], merged["keywords"], merged["source"]) == (0.7, ["tea"], "user")
    assert merged["statistics"] == {
        "content_length": len(merged["content"]), "keywords_count": 1,
        "importance_delta": pytest.approx(0.2), "deduplicated_count": 1,
    }  # fmt: skip


def test_evaluate_uses_the_rule_that_is_named(operator: Api) -> None:
    registered(operator, "old wins", arbitration={**NOTHING_FIRST, "allow_merge": False, "default_strategy": "reject"})
    answer = evaluated(operator, {}, {}, rule="old wins")
    assert (answer["rule"], answer["arbitration"]["action"]) == ("old wins", "reject")
    assert (answer["arbitration"]["winner"], answer["arbitration"]["confidence"]) == ("existing", 0.5)


def test_evaluate_under_rule_that_is_not_there_is_not_found(operator: Api) -> None:
    response = operator.post(f"{RULES}/evaluate", {"candidate": TEA, "existing": TEA, "rule": "ghost"})
    assert response.status_code == 404


def test_evaluate_compares_given_embeddings(operator: Api) -> None:
    far = evaluated(operator, {"content": "x", "embedding": [1, 0]}, {"content": "y", "embedding": [0, 2]})
    assert (far["similarity"], far["conflict"]) == (0.0, False)
    assert (far["arbitration"]["action"], far["arbitration"]["winner"]) == ("keep", None)
    near = evaluated(operator, {"content": "x", "embedding": [1, 0]}, {"content": "y", "embedding": [3, 0]})
    assert [signal["score"] for signal in near["signals"] if signal["type"] == "semantic"] == [pytest.approx(1.0)]


def test_evaluate_only_notices_conflict_on_weak_evidence_unless_arbitration_is_tried(operator: Api) -> None:
    candidate = {"content": "x", "embedding": [1, 0], "occurred_at": "2026-03-02T12:00:00Z"}
    existing = {"content": "y", "embedding": [1, 0]}
    noticed = evaluated(operator, candidate, existing)
    assert (noticed["conflict"], noticed["decisive"], noticed["arbitration"]["winner"]) == (True, False, None)
    tried = evaluated(operator, candidate, existing, config={"arbitration": {"priority_recency": True}})
    assert tried["arbitration"]["winner"] == "candidate"


def test_evaluate_names_embedding_that_cannot_be_compared(operator: Api) -> None:
    for side in ("candidate", "existing"):
        body = {"candidate": dict(TEA), "existing": dict(TEA)}
        body[side]["embedding"] = [1.0, 2.0]  # type: ignore[assignment]
        response = operator.post(f"{RULES}/evaluate", body)
        assert (response.status_code, error_attrs(response)) == (400, [f"{side}.embedding"])


def test_evaluate_goes_on_without_model_and_says_so(operator: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    from apps.llm.domain.embedder import EmbeddingUnavailableError

    def fail(texts: Any) -> Any:
        raise EmbeddingUnavailableError("no model", retryable=True)

    monkeypatch.setattr("apps.rules.evaluate.embed_texts", fail)
    answer = evaluated(operator, {"occurred_at": "2026-03-02T12:00:00Z"}, {"embedding": [1.0, 0.0]})
    assert answer["similarity"] is None
    assert "semantic signal is left out" in answer["warning"]
    assert "semantic" not in {signal["type"] for signal in answer["signals"]}
    assert answer["arbitration"]["winner"] == "candidate"


def test_evaluate_refuses_bad_changes_with_their_path(operator: Api) -> None:
    for config, attr in (
        ({"merge": {"boost_amount": 2}}, "config.merge.boost_amount"),
        ({"name": "x"}, "config.name"),
        (
            {"arbitration": {"weights": dict.fromkeys(("importance", "recency", "source", "semantic"), 0)}},
            "config.arbitration.weights",
        ),
    ):
        response = operator.post(f"{RULES}/evaluate", {"candidate": TEA, "existing": TEA, "config": config})
        assert (response.status_code, error_attrs(response)) == (400, [attr])


def test_evaluate_changes_nothing(operator: Api) -> None:
    before = version(operator)
    evaluated(operator, {}, {}, config=under(merge_threshold=1))
    assert version(operator) == before
    assert operator.get(f"{RULES}/default").json()["arbitration"]["merge_threshold"] == 0.2


LONG_TEXTS = [". " * 45_000 + "tea", "?'\")" * 22_500, " ".join(f"tea is{number}." for number in range(7_500))]


@pytest.mark.parametrize("text", LONG_TEXTS, ids=["full stops", "marks and quotes", "short sentences"])
def test_evaluate_answers_about_long_texts_in_time(operator: Api, text: str) -> None:
    """What was quadratic did not answer within minutes."""
    config = {"merge": {"content_strategy": "summarize"}, "arbitration": {"merge_contradictions": True}}
    changes = {**config, "detection": {"semantic_threshold": 0.1}}

    def evaluate(content: str) -> None:
        given = {"occurred_at": "2026-03-01T12:00:00Z", "embedding": [1, 0]}
        answer = evaluated(
            operator, {**given, "content": content}, {**given, "content": f"So: {content}"}, config=changes
        )
        assert answer["merge"]["strategy"] == "summarize"

    assert_quick(evaluate, text, 5)
