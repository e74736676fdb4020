"""POST /api/rules/{name}/rehearse (DESIGN section 5)."""

from typing import Any

import pytest

from apps.core.domain.scope import Permission, Scope
from apps.rules.services import rule_register, rule_update
from apps.semantic.models import Conflict
from tests.api import Api, api_for, error_attrs
from tests.hostile.support import stored

pytestmark = pytest.mark.django_db

BLIND = {"detection": {"contradiction_threshold": 1.0, "keyword_threshold": 1.0, "semantic_threshold": 1.0}}
REHEARSE = "/api/rules/default/rehearse"


@pytest.fixture
def operator() -> Api:
    return api_for(Scope(), Permission.OPERATOR)


@pytest.fixture
def api() -> Api:
    """An application that may only read what is ana's."""
    return api_for(Scope(user_id="ana"), Permission.READ)


def move(operator: Api, user: str = "ana", **fields: Any) -> None:
    operator.save("They live in Lisbon.", user_id=user, **fields)
    operator.save("They do not live in Lisbon.", user_id=user, **fields)


def rehearsed(api: Api, body: Any = None, name: str = "default") -> dict[str, Any]:
    response = api.post(f"/api/rules/{name}/rehearse", body)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def test_decision_that_would_differ_is_answered_with_both_memories(operator: Api) -> None:
    move(operator)
    receipt = Conflict.objects.get()
    answer = rehearsed(operator, {"changes": BLIND})
    decisions = answer["decisions"]
    assert {name: value for name, value in decisions.items() if name != "results"} == {
        "replayed": 1,
        "differ": 1,
        "due_to_change": 1,
        "transitions": {"superseded_existing -> no_conflict": 1},
        "rules": [{"rule": "default", "count": 1}],
        "complete": True,
    }
    [result] = decisions["results"]
    assert (result["conflict"], result["origin"], result["state"]) == (str(receipt.uuid), "save", receipt.state)
    assert result["existing"] == {"id": str(receipt.existing.uuid), "excerpt": "They live in Lisbon."}
    assert result["candidate"] == {"id": str(receipt.candidate.uuid), "excerpt": "They do not live in Lisbon."}
    assert result["similarity"] == receipt.similarity
    assert result["recorded"] == {
        "outcome": "superseded_existing",
        "rule": "default",
        "existing": str(receipt.existing.uuid),
        "inactive": [str(receipt.existing.uuid)],
        "merged": None,
        "strategy": receipt.strategy,
        "confidence": receipt.confidence,
        "reason": receipt.reason,
    }
    assert result["current"] == result["recorded"]
    assert (result["changed"]["outcome"], result["changed"]["inactive"]) == ("no_conflict", [])
    assert answer["neighbours"] is None
    assert answer["changed_rules"] == ["default", "inferred"]


def test_of_long_memory_beginning_is_answered(operator: Api) -> None:
    move(operator)
    receipt = Conflict.objects.get()
    receipt.records["existing"]["content"] += " It is so." * 100
    receipt.save()
    [result] = rehearsed(operator, {"changes": BLIND})["decisions"]["results"]
    assert result["existing"]["excerpt"] == receipt.records["existing"]["content"][:200]


@pytest.mark.parametrize("body", [None, {}, {"changes": None}, {"changes": {}}])
def test_without_changes_rules_are_replayed_as_they_are(operator: Api, body: Any) -> None:
    move(operator)
    answer = rehearsed(operator, body)
    assert (answer["decisions"]["replayed"], answer["decisions"]["differ"]) == (1, 0)
    assert answer["changed_rules"] == []


def test_neighbours_are_compared_when_asked_for(operator: Api) -> None:
    rule_update(name="default", changes=BLIND, actor="test")
    move(operator)
    body = {"changes": {"detection": None}, "user_id": "ana", "neighbours": True}
    neighbours = rehearsed(operator, body)["neighbours"]
    assert neighbours["transitions"] == {"no_conflict -> superseded_existing": 1}
    assert neighbours["results"][0]["existing"]["excerpt"] == "They live in Lisbon."
    assert neighbours["complete"] is True


def test_rehearsing_changes_nothing(operator: Api) -> None:
    move(operator)
    before = stored()
    rehearsed(operator, {"changes": BLIND, "user_id": "ana", "neighbours": True})
    assert stored() == before


def test_key_that_may_read_may_rehearse_what_is_inside_its_bound(operator: Api, api: Api) -> None:
    move(operator, "ana")
    move(operator, "ben")
    answer = rehearsed(api, {"changes": BLIND})
    assert answer["decisions"]["replayed"] == 1
    assert answer["version"] is None
    assert rehearsed(operator, {"changes": BLIND})["decisions"]["replayed"] == 2


def test_what_is_outside_bound_answers_like_what_does_not_exist(operator: Api, api: Api) -> None:
    move(operator, "ben")
    for user in ("ben", "nobody"):
        answer = rehearsed(api, {"changes": BLIND, "user_id": user, "neighbours": True})
        assert (answer["decisions"]["replayed"], answer["neighbours"]["replayed"]) == (0, 0)


def test_rules_of_others_are_not_found_and_not_named(operator: Api, api: Api) -> None:
    rule_register(document={"name": "coach", "priority": 5, "conditions": {"persona_id": "coach"}}, actor="test")
    move(operator, "ana", persona_id="coach")
    assert api.post("/api/rules/coach/rehearse", {}).status_code == 404
    answer = rehearsed(api, {"changes": {"priority": 1}})
    assert answer["decisions"]["rules"] == [{"rule": None, "count": 1}]
    assert "coach" not in str(answer["decisions"]) + str(answer["changed_rules"])
    assert rehearsed(operator)["decisions"]["rules"] == [{"rule": "coach", "count": 1}]


def test_a_rule_that_does_not_exist_is_not_found(operator: Api) -> None:
    assert operator.post("/api/rules/nobody/rehearse", {}).status_code == 404


def test_without_a_key_nothing_is_rehearsed() -> None:
    assert Api().post(REHEARSE, {}).status_code == 401


@pytest.mark.parametrize(
    ("body", "attr"),
    [
        ({"changes": {"arbitration": {"merge_threshold": 2}}}, "changes.arbitration.merge_threshold"),
        ({"changes": {"nonsense": 1}}, "changes.nonsense"),
        ({"changes": {"name": "other"}}, "changes.name"),
        ({"changes": {"extends": "inferred"}}, "changes.extends"),
        ({"changes": {"description": "x" * 70_000}}, "changes.description"),
        ({"changes": []}, "changes"),
        ({"changes": "none"}, "changes"),
        ({"config": {}}, "config"),
        ({"limit": 0}, "limit"),
        ({"limit": 5_001}, "limit"),
        ({"limit": "10"}, "limit"),
        ({"max_pairs": 20_001}, "max_pairs"),
        ({"neighbours": "yes"}, "neighbours"),
        ({"neighbours": True}, "user_id"),
        ({"user_id": ""}, "user_id"),
        ([], "non_field_errors"),
    ],
)
def test_bad_input_names_the_field(operator: Api, body: Any, attr: str) -> None:
    response = operator.post(REHEARSE, body)
    assert response.status_code == 400, response.content
    assert attr in error_attrs(response)


def test_every_problem_of_the_changes_is_told(operator: Api) -> None:
    body = {"changes": {"priority": "high", "merge": {"boost_amount": 7}}}
    assert set(error_attrs(operator.post(REHEARSE, body))) == {"changes.priority", "changes.merge.boost_amount"}
