"""No writer that is less trusted changes by itself what a person said (DESIGN D20), tried over REST."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse

from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Scope
from apps.rules.services import rule_register
from apps.semantic.consolidation.services import consolidation_for, consolidation_run
from apps.semantic.models import ConsolidationMode
from tests.api import MEMORIES, SEARCH, Api, api_for
from tests.hostile.poisoning import ATTEMPTS, CALLS, Attempt, Step

pytestmark = pytest.mark.django_db

ANA = Scope("ana")
CONFLICTS, EVENTS, TOOLS = "/api/semantic/conflicts", "/api/episodic/events", "/api/llm/tools/execute"
MOMENT = "2026-03-01T12:00:00Z"
ORIGINS = {origin.value for origin in WriteOrigin}
LOWER = ("app", "document", "derived")
# A rule that acts wherever it can, and merges what it may.
EAGER = {
    "name": "eager",
    "priority": 9,
    "detection": {"keyword_threshold": 0.3, "restate_threshold": 0.3, "semantic_threshold": 0.3},
    "arbitration": {"act_on_weak_evidence": True, "merge_contradictions": True, "merge_threshold": 1.0},
}
# Of a memory: what a decay makes of it over time is no change.
PASSING = {"confidence"}


def writers() -> dict[str, Api]:
    """A key of each origin for the same person."""
    return {origin.value: api_for(ANA, origin=origin, name=f"key of {origin.value}") for origin in WriteOrigin}


def claim(api: Api, fact: str, **fields: Any) -> HttpResponse:
    return api.post(MEMORIES, {"origin": "person", **fields})


def claim_batch(api: Api, fact: str, **fields: Any) -> HttpResponse:
    [answer] = api.post(f"{MEMORIES}/batch", {"memories": [{"origin": "person", **fields}]}).json()["results"]
    return HttpResponse(status=answer["status"])


def claim_event(api: Api, fact: str, **fields: Any) -> HttpResponse:
    return api.post(EVENTS, {"timestamp": MOMENT, "event_type": "message", "origin": "person", **fields})


def claim_tool(api: Api, fact: str, **fields: Any) -> HttpResponse:
    block = json.dumps({"origin": "person", **fields})
    text = f"[[ABP_TOOL:memory_save]]\n{block}\n[[END_ABP_TOOL]]"
    [result] = api.post(TOOLS, {"text": text, "mode": "abp"}).json()["results"]
    assert [problem["attr"] for problem in result["problems"]] == ["origin"], result
    return HttpResponse(status=200 if result["outcome"] == "done" else 403)


def open_conflicts(api: Api, fact: str) -> list[str]:
    found = api.get(f"{CONFLICTS}?memory={fact}").json()["results"]
    assert found, "nothing was noticed"
    return [f"{CONFLICTS}/{one['id']}" for one in found]


def settle(step: str, body: dict[str, str] | None = None) -> Callable[..., HttpResponse]:
    def run(api: Api, fact: str) -> HttpResponse:
        return api.post(f"{open_conflicts(api, fact)[0]}/{step}", body)

    return run


def delete_many(api: Api, fact: str) -> HttpResponse:
    answer = api.post(f"{MEMORIES}/delete", {"ids": [fact]})
    assert answer.json() == {"matched": 0, "deleted": 0, "managed": 0, "protected": 1, "dry_run": False}
    return HttpResponse(status=403)


# Each of them is refused.
REFUSED: dict[str, Callable[..., HttpResponse]] = {
    "claim": claim,
    "claim_batch": claim_batch,
    "claim_event": claim_event,
    "claim_tool": claim_tool,
    "change": lambda api, fact, **fields: api.patch(f"{MEMORIES}/{fact}", fields),
    "delete": lambda api, fact: api.delete(f"{MEMORIES}/{fact}"),
    "delete_many": delete_many,
    "override": settle("override", {"winner": "candidate"}),
    "accept": settle("accept"),
    "revert": settle("revert"),
}


def take(step: Step, api: Api, fact: str) -> None:
    """Do a step of an attempt."""
    if step.call == "save":
        api.save(step.content, **step.fields)
    else:
        assert REFUSED[step.call](api, fact, **step.fields).status_code == 403, step


def consolidate() -> None:
    """Decide about all that is stored, as the schedule would."""
    report = consolidation_run(pk=consolidation_for(scope=ANA, mode=ConsolidationMode.DECIDE).pk)
    assert not report.error


def without_passing(memory: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in memory.items() if name not in PASSING}


def attack(attempt: Attempt, by: dict[str, Api]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make an attempt. Return the person's memory before and after it."""
    for step in attempt.before:
        take(step, by[step.origin], "")
    fact = by["person"].save(attempt.fact)
    before = by["person"].get(f"{MEMORIES}/{fact['id']}").json()
    for step in attempt.steps:
        take(step, by[step.origin], fact["id"])
    consolidate()
    return before, by["person"].get(f"{MEMORIES}/{fact['id']}").json()


def check(attempt: Attempt) -> None:
    """The fact of the person is what it was, is found, and everything that is found says whom it comes from."""
    by = writers()
    before, after = attack(attempt, by)
    assert (before["content"], before["status"], before["origin"]) == (attempt.fact, "active", "person")
    assert (before["context"], before["metadata"], before["keywords"]) == ("", {}, [])
    assert (before["importance"], before["decay_policy"], before["expires_at"]) == (0.5, "stable", None)
    assert without_passing(after) == without_passing(before)
    found = [one["memory"] for one in by["app"].post(SEARCH, {"query": attempt.question}).json()["results"]]
    assert {one["origin"] for one in found} <= ORIGINS
    assert [one["id"] for one in found if one["origin"] == "person"] == [before["id"]]
    for receipt in by["app"].get(f"{CONFLICTS}?memory={before['id']}").json()["results"]:
        sides = {receipt[side]["id"]: receipt[side]["origin"] for side in ("candidate", "existing")}
        assert sides.pop(before["id"]) == "person"
        assert set(sides.values()) <= set(LOWER)
        assert receipt["result"] in {None, before["id"]}


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.name)
def test_attempt_changes_nothing(attempt: Attempt, empty_caches: None) -> None:
    check(attempt)


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.name)
def test_attempt_fails_under_an_eager_rule(attempt: Attempt, empty_caches: None) -> None:
    rule_register(document=EAGER, actor="test")
    check(attempt)


def test_attempts_would_work_without_origins(empty_caches: None) -> None:
    """What protects the facts is their origin: the same words of one writer cost them their place."""
    lost = Counter[bool]()
    for number, attempt in enumerate(one for one in ATTEMPTS if one not in CALLS):
        api = api_for(Scope(f"user-{number}"))
        for step in attempt.before:
            api.save(step.content, **step.fields)
        fact = api.save(attempt.fact)
        for step in attempt.steps:
            api.save(step.content, **step.fields)
        after = api.get(f"{MEMORIES}/{fact['id']}").json()
        lost[without_passing(after) != without_passing(fact)] += 1
    assert lost[True] >= 25, lost
