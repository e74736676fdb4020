"""Texts, vectors, times and rules at the edge of what is allowed, decided about: no failure, and no row lost."""

from itertools import product
from typing import Any

import pytest
from django.http import HttpResponse

from apps.core.domain.scope import Scope
from apps.rules.services import rule_register
from apps.semantic.models import Conflict, Memory
from apps.semantic.store.embedding_space import current_space
from tests.api import MEMORIES, Api, api_for
from tests.hostile.support import assert_refused, stored

pytestmark = pytest.mark.django_db

CONFLICTS = "/api/semantic/conflicts"
LISBON, NOT_LISBON = "Ana lives in Lisbon.", "Ana does not live in Lisbon."
# Everything conflicts with everything, and what conflicts is acted on.
ALL_AT_ZERO = {
    "semantic_threshold": 0,
    "keyword_threshold": 0,
    "contradiction_threshold": 0,
    "act_threshold": 0,
    "restate_threshold": 0,
    "time_window_seconds": 0,
    "importance_delta": 0,
}
ALL_AT_ONE = {**dict.fromkeys(ALL_AT_ZERO, 1)}
UNDECIDED = {"priority_importance": False, "priority_recency": False, "priority_source": False}
MERGING = {**UNDECIDED, "act_on_weak_evidence": True, "merge_contradictions": True, "merge_threshold": 1}


@pytest.fixture
def api() -> Api:
    current_space()
    return api_for(Scope("ana"))


def rule(**sections: Any) -> None:
    rule_register(document={"name": "extreme", "priority": 5, **sections}, actor="test")


def saved(api: Api, content: str, **fields: Any) -> dict[str, Any]:
    response = api.post(MEMORIES, {"content": content, **fields})
    assert response.status_code in {200, 201}, response.content[:500]
    answer: dict[str, Any] = response.json()
    return answer


def assert_can_be_reverted(api: Api) -> None:
    """Every decision, newest first; afterwards nothing but what was saved without one stands."""
    for receipt in Conflict.objects.exclude(outcome="noticed").order_by("-id"):
        answer: HttpResponse = api.post(f"{CONFLICTS}/{receipt.uuid}/revert")
        assert answer.status_code == 200, answer.content[:500]
    assert not Memory.objects.exclude(status__in=["active", "deleted"]).exists()


def long_text(topic: str, chars: int = 20_000) -> str:
    words = " ".join(f"{topic}{n} is number {n}." for n in range(chars // 8))
    return words[:chars].rsplit(" ", 1)[0]


EDGES = {
    "the limit on both sides": (long_text("apple", 99_000), long_text("apple", 98_000)),
    "twenty thousand characters": (long_text("apple"), long_text("apple")[:-40] + " pear"),
    "one long word": ("a" * 20_000, "a" * 19_999 + "b"),
    "emoji": ("🦊 lives in 🏠🏡", "🦊 does not live in 🏠🏡"),
    "families of emoji": ("👩‍👩‍👧‍👦" * 500, "👩‍👩‍👧‍👦" * 499 + "👨"),
    "right to left": ("אנה גרה בליסבון", "אנה לא גרה בליסבון"),
    "marks of direction": ("\u202eAna lives\u202c in Lisbon", "Ana \u200fdoes not live in Lisbon"),
    "combining marks": ("e" + "\u0301" * 5_000, "e" + "\u0301" * 4_999 + " x"),
    "no words": ("!!! ??? ...", "??? !!! ***"),
    "one letter": ("a", "b"),
    "numbers only": ("1 2 3", "3 2 1"),
    "a huge number": ("Ana owns " + "9" * 5_000 + " cats", "Ana owns " + "8" * 5_000 + " cats"),
    "an exponent": ("Ana owes 1e999 euros", "Ana owes -1e999 euros"),
    "many lines": ("\n" * 5_000 + "x", "x\n" * 5_000 + "y"),
    "many sentences": ("Yes. " * 4_000, "No. " * 4_000),
    "Chinese": ("安娜住在里斯本。", "安娜不住在里斯本。"),
    "surrogates in pairs": ("\U00010000 is here", "\U00010000 is not here"),
    "SQL and format signs": ("100% of {users} '; DROP TABLE--", "0% of {users} '; DROP TABLE--"),
}


@pytest.mark.parametrize("arbitration", [MERGING, {**UNDECIDED, "act_on_weak_evidence": True, "allow_merge": False}])
@pytest.mark.parametrize("edge", EDGES)
def test_texts_at_edge_are_decided_about_and_kept(api: Api, edge: str, arbitration: dict[str, Any]) -> None:
    rule(detection=ALL_AT_ZERO, arbitration=arbitration)
    first, second = EDGES[edge]
    saved(api, first)
    saved(api, second)
    assert {first.strip(), second.strip()} <= {
        content.strip() for content in Memory.objects.values_list("content", flat=True)
    }
    assert_can_be_reverted(api)


def test_what_would_be_too_long_merged_is_noticed_and_both_stand(api: Api) -> None:
    rule(detection=ALL_AT_ZERO, arbitration=MERGING, merge={"content_strategy": "concatenate", "deduplicate": False})
    first, second = long_text("apple", 60_000), long_text("apple", 50_000) + " pear"
    saved(api, first)
    answer = saved(api, second)
    assert answer["action"] == "inserted"
    receipt = Conflict.objects.get(uuid=answer["conflict"])
    assert receipt.outcome == "noticed"
    assert "100,000" in receipt.reason
    assert Memory.objects.active().count() == 2


@pytest.mark.parametrize("field", ["content", "context", "source"])
@pytest.mark.parametrize("text", ["Ana\x00 lives", "\ud800 lives", "lives \udfff"])
def test_what_database_cannot_hold_is_refused_before_anything_is_decided(api: Api, field: str, text: str) -> None:
    saved(api, LISBON)
    before = stored()
    assert_refused(api.post(MEMORIES, {"content": NOT_LISBON, field: text}), 400, field)
    assert stored() == before


def test_vectors_of_callers_own_may_contradict_what_texts_say(api: Api) -> None:
    rule(detection=ALL_AT_ZERO, arbitration=MERGING)
    unit = [1.0] + [0.0] * 383
    saved(api, LISBON, embedding=unit)
    saved(api, "Green tea is best.", embedding=[-number for number in unit])
    saved(api, "Ana is in Lisbon.", embedding=[1e-30] * 384)
    saved(api, NOT_LISBON, embedding=[-1e30] * 384)
    assert Memory.objects.count() >= 4
    assert_can_be_reverted(api)


def test_opposite_vectors_in_one_batch_can_be_merged(api: Api) -> None:
    rule(detection=ALL_AT_ZERO, arbitration=MERGING, merge={"content_strategy": "concatenate", "deduplicate": False})
    items = [
        {"content": f"Ana plays chess with {name}.", "embedding": [sign] + [0.0] * 383}
        for name, sign in (("Ben", 1.0), ("Carla", -1.0), ("Dora", 1.0))
    ]
    response = api.post(f"{MEMORIES}/batch", {"memories": items})
    assert [item["status"] for item in response.json()["results"]] == [201, 200, 200]
    assert Memory.objects.active().count() == 1
    assert_can_be_reverted(api)


@pytest.mark.parametrize("vector", [[0.0] * 384, [1.0] * 383, [1.0] * 385, [], [1e400] * 384])
def test_vector_without_direction_or_of_another_length_is_refused(api: Api, vector: list[float]) -> None:
    saved(api, LISBON)
    response = api.post(MEMORIES, {"content": NOT_LISBON, "embedding": vector})
    assert response.status_code == 400
    assert Memory.objects.count() == 1


def test_fifty_keywords_on_both_sides_are_all_kept_in_merge(api: Api) -> None:
    rule(detection=ALL_AT_ZERO, arbitration=MERGING)
    saved(api, LISBON, keywords=[f"left {n}" for n in range(50)])
    answer = saved(api, NOT_LISBON, keywords=[f"right {n}" * 10 for n in range(50)])
    assert answer["action"] == "merged"
    assert len(Memory.objects.active().get().keywords) == 100
    assert_can_be_reverted(api)


MOMENTS = [None, "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "2026-03-01T00:00:00Z"]


@pytest.mark.parametrize(("first", "second"), list(product(MOMENTS, MOMENTS)))
def test_moments_at_ends_of_calendar_are_compared(api: Api, first: str | None, second: str | None) -> None:
    for arbitration in ({}, UNDECIDED, {**UNDECIDED, "merge_threshold": 0}):
        rule_register(
            document={"name": f"rule {len(arbitration)}", "priority": len(arbitration), "arbitration": arbitration},
            actor="test",
        )
        user = {"project": str(len(arbitration))}
        dates = [{"occurred_at": moment} if moment else {} for moment in (first, second)]
        saved(api, f"{LISBON}{len(arbitration)}", importance=0, **user, **dates[0])
        saved(api, f"{NOT_LISBON}{len(arbitration)}", importance=1, **user, **dates[1])
    assert Memory.objects.count() >= 6
    assert_can_be_reverted(api)


FACTORS = ("importance", "recency", "source", "semantic")
ONLY = [dict.fromkeys(FACTORS, 0) | {factor: 1} for factor in FACTORS]
EXTREME = [
    *({"arbitration": {**UNDECIDED, "weights": weights}} for weights in ONLY),
    *({"arbitration": {**MERGING, "weights": weights, "merge_threshold": 0}} for weights in ONLY),
    *({"arbitration": {**UNDECIDED, "merge_threshold": edge, "allow_merge": True}} for edge in (0, 1)),
    *({"arbitration": {**UNDECIDED, "default_strategy": name}} for name in ("keep-existing", "reject")),
    {"merge": {"boost_amount": 1, "metadata_strategy": {"importance": "boost"}}, "arbitration": MERGING},
    {"merge": {"deduplicate_threshold": 0, "metadata_strategy": {"keywords": "intersection"}}, "arbitration": MERGING},
    {"merge": {"deduplicate_threshold": 1, "content_strategy": "replace"}, "arbitration": MERGING},
    {"merge": {"content_strategy": "summarize"}, "arbitration": MERGING},
]


@pytest.mark.parametrize("detection", [ALL_AT_ZERO, ALL_AT_ONE])
@pytest.mark.parametrize("number", range(len(EXTREME)))
def test_rules_at_edge_of_what_is_allowed_lose_nothing(api: Api, number: int, detection: dict[str, Any]) -> None:
    rule(detection=detection, **EXTREME[number])
    texts = [LISBON, NOT_LISBON, "Ana owns 12 cats.", "Ana owns 15 cats.", "Tea.", "Ana lives in Lisbon now."]
    for number_of, text in enumerate(texts[:4]):
        saved(api, text, importance=number_of % 2, source=("user", "inferred")[number_of % 2])
    batch = {"memories": [{"content": text, "importance": 1} for text in texts]}
    results = api.post(f"{MEMORIES}/batch", batch).json()["results"]
    assert {item["status"] for item in results} <= {200, 201}
    assert set(texts) <= set(Memory.objects.values_list("content", flat=True))
    assert all(0 <= importance <= 1 for importance in Memory.objects.values_list("importance", flat=True))
