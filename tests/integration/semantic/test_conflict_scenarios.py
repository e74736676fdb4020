"""The scenarios of spec 000 about conflicts as an application meets them: over REST, in rows, receipts and events."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.core.domain.scope import Permission, Scope
from apps.events.models import Event
from apps.semantic.models import Memory
from tests.api import MEMORIES, Api, api_for

pytestmark = pytest.mark.django_db

RULES, CONFLICTS = "/api/rules", "/api/semantic/conflicts"
THEN = datetime(2026, 3, 1, tzinfo=UTC)
LISBON, NOT_LISBON = "Ana lives in Lisbon.", "Ana does not live in Lisbon."
BREAD = "Ana bakes rye bread with caraway seeds every Sunday."
MORNING = "Ana bakes rye bread with caraway seeds every Sunday morning."
LOOSE = {"keyword_threshold": 0.5, "restate_threshold": 0.5}
UNDECIDED = {"priority_importance": False, "priority_recency": False, "priority_source": False}
UNIT = [1.0] + [0.0] * 383


@pytest.fixture
def operator() -> Api:
    return api_for(Scope(), Permission.OPERATOR)


def rule(operator: Api, name: str = "mine", **sections: Any) -> dict[str, Any]:
    response = operator.post(RULES, {"name": name, "priority": 5, **sections})
    assert response.status_code == 201, response.content
    answer: dict[str, Any] = response.json()
    return answer


def save(api: Api, content: str, **fields: Any) -> dict[str, Any]:
    response = api.post(MEMORIES, {"content": content, **fields})
    assert response.status_code in {200, 201}, response.content
    answer: dict[str, Any] = response.json()
    return answer


def receipt(api: Api, answer: dict[str, Any]) -> dict[str, Any]:
    response = api.get(f"{CONFLICTS}/{answer['conflict']}")
    assert response.status_code == 200
    found: dict[str, Any] = response.json()
    return found


def signal(found: dict[str, Any], kind: str) -> dict[str, Any]:
    [one] = [one for one in found["signals"] if one["type"] == kind]
    result: dict[str, Any] = one
    return result


def at(days: float = 0) -> str:
    return (THEN + timedelta(days=days)).isoformat()


# --- Memory Conflict Detection ----------------------------------------------------------------------------


def test_scenario_semantic_similarity_signal(api: Api) -> None:
    old = save(api, "Ana is fond of felines.", embedding=UNIT)["memory"]
    found = receipt(api, save(api, "She adores cats.", embedding=UNIT))
    assert signal(found, "semantic")["score"] == pytest.approx(1.0)
    assert signal(found, "semantic")["evidence"]["target"] == old["id"]


def test_scenario_semantic_similarity_signal_is_of_the_same_user_only(operator: Api) -> None:
    save(operator, "Ana is fond of felines.", user_id="ana", embedding=UNIT)
    assert save(operator, "She adores cats.", user_id="ben", embedding=UNIT)["conflict"] is None


def test_scenario_keyword_overlap_signal(api: Api, operator: Api) -> None:
    rule(operator, detection=LOOSE)
    old = save(api, BREAD)["memory"]
    evidence = signal(receipt(api, save(api, MORNING)), "keyword")["evidence"]
    assert {"bread", "rye", "caraway"} <= set(evidence["keywords"])
    assert evidence["target"] == old["id"]
    assert evidence["overlap"] > evidence["threshold"] == 0.5


def test_scenario_time_window_signal(api: Api) -> None:
    save(api, LISBON, occurred_at=at())
    found = receipt(api, save(api, NOT_LISBON, occurred_at=(THEN + timedelta(minutes=2)).isoformat()))
    assert signal(found, "time")["evidence"] == {"delta_seconds": 120.0, "window_seconds": 300.0}


def test_scenario_importance_difference_signal(api: Api) -> None:
    save(api, LISBON, importance=0.2)
    evidence = signal(receipt(api, save(api, NOT_LISBON, importance=0.9)), "importance")["evidence"]
    assert (evidence["delta"], evidence["candidate"], evidence["existing"]) == (0.7, 0.9, 0.2)


# --- Memory Conflict Arbitration --------------------------------------------------------------------------


def test_scenario_importance_based_arbitration(api: Api, operator: Api) -> None:
    rule(operator, arbitration={"priority_importance": True})
    old = save(api, LISBON, importance=0.9)["memory"]
    answer = save(api, NOT_LISBON, importance=0.5)
    assert (answer["action"], answer["memory"]["id"]) == ("kept_existing", old["id"])
    found = receipt(api, answer)
    assert (found["winner"], found["strategy"], found["confidence"]) == ("existing", "importance", pytest.approx(0.7))


def test_scenario_recency_based_arbitration(api: Api) -> None:
    save(api, LISBON, occurred_at=at())
    answer = save(api, NOT_LISBON, occurred_at=at(days=1))
    found = receipt(api, answer)
    assert (answer["action"], found["winner"], found["strategy"]) == ("superseded_existing", "candidate", "recency")
    assert found["confidence"] == pytest.approx(0.75)


def test_scenario_source_based_arbitration(api: Api) -> None:
    save(api, LISBON, occurred_at=at(), source="conversation")
    answer = save(api, NOT_LISBON, occurred_at=at(), source="skill")
    found = receipt(api, answer)
    assert (answer["action"], found["strategy"], found["confidence"]) == ("kept_existing", "source", 0.7)


def test_scenario_multi_factor_scoring(api: Api, operator: Api) -> None:
    rule(operator, detection=LOOSE, arbitration=UNDECIDED)
    save(api, BREAD, importance=0.5)
    assert save(api, MORNING, importance=0.6)["action"] == "merged"
    save(api, LISBON, importance=0.0, source="inferred")
    answer = save(api, NOT_LISBON, importance=1.0)
    assert answer["action"] == "superseded_existing"
    assert receipt(api, answer)["strategy"] == "multi-factor"


@pytest.mark.parametrize(
    ("strategy", "action"),
    [("keep-candidate", "superseded_existing"), ("keep-existing", "kept_existing"), ("reject", "rejected")],
)
def test_scenario_default_strategy_fallback(api: Api, operator: Api, strategy: str, action: str) -> None:
    rule(operator, arbitration={"default_strategy": strategy})
    save(api, LISBON, occurred_at=at())
    answer = save(api, NOT_LISBON, occurred_at=at())
    found = receipt(api, answer)
    assert (answer["action"], found["strategy"], found["confidence"]) == (action, "default", 0.5)
    assert strategy in found["reason"]


def test_scenario_multiple_conflict_resolution(api: Api, operator: Api) -> None:
    """Of two contradicted memories the one that shares more with the new one is decided, and both leave for it."""
    rule(operator, "quiet", detection={"act_threshold": 1})
    milder = save(api, "Ana lives in Lisbon with her three cats.")["memory"]
    closest = save(api, LISBON)["memory"]
    operator.delete(f"{RULES}/quiet")
    answer = save(api, NOT_LISBON)
    found = receipt(api, answer)
    assert answer["action"] == "superseded_existing"
    assert found["existing"]["id"] == closest["id"]
    assert [other["existing"]["id"] for other in found["others"]] == [milder["id"]]
    assert found["total_score"] >= found["others"][0]["total_score"]


# --- Memory Merging ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "content"),
    [
        ("concatenate", f"{BREAD}\n{MORNING}"),
        ("replace", MORNING),
        ("summarize", f"{BREAD} {MORNING}"),
        ("smart", f"{BREAD} {MORNING}"),
    ],
)
def test_scenario_content_merging_strategies(api: Api, operator: Api, strategy: str, content: str) -> None:
    merge = {"content_strategy": strategy, "deduplicate_threshold": 1}
    rule(operator, detection=LOOSE, arbitration=UNDECIDED, merge=merge)
    save(api, BREAD)
    answer = save(api, MORNING)
    assert (answer["action"], answer["memory"]["content"]) == ("merged", content)


def test_scenario_metadata_merging(api: Api, operator: Api) -> None:
    """As stored rows: the highest importance, the latest time, all keywords once, the better source; parents kept."""
    rule(operator, detection=LOOSE, arbitration=UNDECIDED)
    first = {"importance": 0.4, "occurred_at": at(), "keywords": ["bread", "Sunday"], "source": "conversation"}
    second = {"importance": 0.5, "occurred_at": at(days=1), "keywords": ["Bread", "rye"], "source": "user"}
    save(api, BREAD, **first)
    answer = save(api, MORNING, **second)
    assert answer["action"] == "merged"
    merged = Memory.objects.get(uuid=answer["memory"]["id"])
    assert (merged.importance, merged.occurred_at, merged.source) == (0.5, THEN + timedelta(days=1), "user")
    assert merged.keywords == ["bread", "Sunday", "rye"]
    for content, fields in ((BREAD, first), (MORNING, second)):
        parent = Memory.objects.get(content=content, status="merged")
        assert parent.superseded_by == merged
        assert (parent.importance, parent.keywords) == (fields["importance"], fields["keywords"])


@pytest.mark.parametrize(("strategy", "expected"), [("max", 0.5), ("boost", 0.7), ("average", 0.45)])
def test_scenario_importance_boost(api: Api, operator: Api, strategy: str, expected: float) -> None:
    merge = {"metadata_strategy": {"importance": strategy}, "boost_amount": 0.2}
    rule(operator, detection=LOOSE, arbitration=UNDECIDED, merge=merge)
    save(api, BREAD, importance=0.4)
    assert save(api, MORNING, importance=0.5)["memory"]["importance"] == pytest.approx(expected)


@pytest.mark.parametrize("threshold", [0.5, 1])
def test_scenario_content_deduplication(api: Api, operator: Api, threshold: float) -> None:
    merge = {"content_strategy": "concatenate", "deduplicate": True, "deduplicate_threshold": threshold}
    rule(operator, detection=LOOSE, arbitration=UNDECIDED, merge=merge)
    save(api, BREAD)
    answer = save(api, MORNING)
    assert answer["memory"]["content"] == (MORNING if threshold == 0.5 else f"{BREAD}\n{MORNING}")


def test_scenario_merge_result_statistics(api: Api, operator: Api) -> None:
    rule(operator, detection=LOOSE, arbitration=UNDECIDED, merge={"deduplicate_threshold": 0.5})
    save(api, BREAD, importance=0.4, keywords=["rye"])
    answer = save(api, MORNING, importance=0.5, keywords=["oven"])
    statistics = receipt(api, answer)["merge"]["statistics"]
    assert statistics == {
        "content_length": len(answer["memory"]["content"]),
        "keywords_count": 2,
        "importance_delta": pytest.approx(0.1),
        "deduplicated_count": 1,
    }


# --- Configurable Merge Rules -----------------------------------------------------------------------------


def test_scenario_rule_inheritance(api: Api, operator: Api) -> None:
    """A rule that inherits over two levels decides with what it inherits and what it overrides."""
    rule(operator, "base", enabled=False, arbitration={**UNDECIDED, "allow_merge": False})
    rule(operator, "middle", enabled=False, extends="base", arbitration={"default_strategy": "reject"})
    rule(operator, "leaf", enabled=True, extends="middle", conditions={"source": "skill"})
    save(api, LISBON, occurred_at=at(), source="skill")
    answer = save(api, NOT_LISBON, occurred_at=at(), source="skill")
    assert receipt(api, answer)["rule"] == "leaf"
    assert (answer["action"], receipt(api, answer)["strategy"]) == ("rejected", "default")


def test_scenario_runtime_rule_updates(api: Api, operator: Api) -> None:
    rule(operator, arbitration={"default_strategy": "reject"})
    save(api, LISBON, occurred_at=at())
    assert save(api, NOT_LISBON, occurred_at=at())["action"] == "rejected"
    changed = operator.call("PATCH", f"{RULES}/mine", {"arbitration": {"default_strategy": "keep-candidate"}})
    assert changed.status_code == 200
    assert save(api, "Ana never lives in Lisbon.", occurred_at=at())["action"] == "superseded_existing"
    assert Event.objects.filter(name="rule:updated").exists()


def test_scenario_conditional_rule_matching(api: Api, operator: Api) -> None:
    """The rule is chosen by priority among those whose conditions the saved memory meets, else it is the default."""
    rule(operator, "everybody", priority=1, arbitration={"default_strategy": "keep-existing"})
    rule(operator, "of ben", priority=9, conditions={"user_id": "ben"})
    rule(operator, "off", priority=8, enabled=False)
    rule(operator, "guesses", priority=7, conditions={"source": "skill", "importance_range": {"min": 0.6}})
    save(api, LISBON, occurred_at=at())
    strong = save(api, NOT_LISBON, occurred_at=at(days=1), source="skill", importance=0.9)
    weak = save(api, LISBON, occurred_at=at(days=2), source="skill", importance=0.1)
    assert receipt(api, strong)["rule"] == "guesses"
    assert receipt(api, weak)["rule"] == "everybody"
    for name in ("everybody", "guesses"):
        operator.delete(f"{RULES}/{name}")
    assert receipt(api, save(api, NOT_LISBON, occurred_at=at(days=3)))["rule"] == "default"
