"""The current fact first, and open conflicts of results, over REST."""

from dataclasses import replace
from typing import Any

import pytest
import yaml
from django.conf import LazySettings

from apps.core.domain.scope import Access, Permission, Scope
from apps.semantic.models import Conflict, ConflictOutcome, Memory, Origin
from apps.semantic.search.fetch import read_open_conflicts
from tests.api import Api, api_for, contents

pytestmark = pytest.mark.django_db

CONFLICTS = "/api/semantic/conflicts"
OLD, NEW = "The gym costs 40 euros.", "The gym charges 55 euros."
QUERY = "What does the gym cost?"


@pytest.fixture
def prices(api: Api) -> list[dict[str, Any]]:
    """Two statements about one matter, of which nothing decides."""
    saved = [api.save(text, occurred_at=f"2026-0{month}-01T00:00:00Z") for month, text in enumerate((OLD, NEW), 1)]
    Conflict.objects.all().delete()
    Memory.objects.update(status="active", superseded_by=None)
    return saved


def notice(candidate: str, existing: str, **fields: Any) -> Conflict:
    """A receipt of a noticed conflict between two memories, by their ids."""
    newer, older = (Memory.objects.get(uuid=uuid) for uuid in (candidate, existing))
    scope = {name: getattr(newer, name) for name in ("user_id", "household_id", "persona_id")}
    details = {"action": "keep", "strategy": "default", "confidence": 0.5, "reason": "test", "actor": "test"}
    given = {"origin": Origin.SAVE, "outcome": ConflictOutcome.NOTICED, "at": newer.created_at, **details, **scope}
    return Conflict.objects.create(candidate=newer, existing=older, **(given | fields))


def conflicts_of(answer: dict[str, Any]) -> dict[str, Any]:
    return {item["memory"]["content"]: item["conflict"] for item in answer["results"]}


def test_newer_of_two_results_on_one_matter_comes_first(api: Api, prices: list[dict[str, Any]]) -> None:
    assert contents(api.search(QUERY)) == [NEW, OLD]
    assert contents(api.search(QUERY, top_k=1)) == [NEW]
    assert contents(api.search(QUERY, current_first=True)) == [NEW, OLD]


def test_search_or_setting_turns_it_off(api: Api, prices: list[dict[str, Any]], settings: LazySettings) -> None:
    assert contents(api.search(QUERY, current_first=False)) == [OLD, NEW]
    settings.MEMORYHUB = replace(settings.MEMORYHUB, current_first=False)
    assert contents(api.search(QUERY)) == [OLD, NEW]
    assert contents(api.search(QUERY, current_first=True)) == [NEW, OLD]


def test_other_modes_keep_their_order_unless_asked(api: Api, prices: list[dict[str, Any]]) -> None:
    assert contents(api.search(OLD, mode="vector")) == [OLD, NEW]
    by_words = api.search(QUERY, mode="keyword")
    assert [item["score"] for item in by_words["results"]] == sorted(
        (item["score"] for item in by_words["results"]), reverse=True
    )
    assert contents(api.search(QUERY, mode="vector", current_first=True, top_k=1)) == [NEW]


def test_explanation_says_before_what_and_why(api: Api, prices: list[dict[str, Any]]) -> None:
    first, second = api.search(QUERY, explain=True)["results"]
    assert first["explain"]["current_first"] == {"before": prices[0]["id"], "by": "matter", "place_by_score": 2}
    assert second["explain"]["current_first"] is None
    assert first["score"] < second["score"]
    [alone] = api.search(QUERY, explain=True, top_k=1)["results"]
    assert alone["explain"]["current_first"]["before"] == prices[0]["id"]


def test_result_names_the_open_conflict_that_concerns_it(api: Api, prices: list[dict[str, Any]]) -> None:
    old, new = (memory["id"] for memory in prices)
    assert conflicts_of(api.search(QUERY)) == {OLD: None, NEW: None}
    receipt = notice(new, old)
    expected = {"id": str(receipt.uuid), "state": "open"}
    assert conflicts_of(api.search(QUERY)) == {OLD: {**expected, "with": new}, NEW: {**expected, "with": old}}
    assert conflicts_of(api.search(QUERY, top_k=1, current_first=False)) == {OLD: {**expected, "with": new}}
    api.post(f"{CONFLICTS}/{receipt.uuid}/accept")
    assert conflicts_of(api.search(QUERY)) == {OLD: None, NEW: None}


def test_newer_side_of_an_open_conflict_comes_first_whatever_the_words(api: Api) -> None:
    old = api.save("Green tea in the morning", occurred_at="2026-01-01T00:00:00Z")
    new = api.save("Ran out of leaves", occurred_at="2026-02-01T00:00:00Z")
    assert contents(api.search("tea"))[0] == "Green tea in the morning"
    notice(new["id"], old["id"])
    answer = api.search("tea", explain=True)
    assert contents(answer) == ["Ran out of leaves", "Green tea in the morning"]
    assert answer["results"][0]["explain"]["current_first"]["by"] == "conflict"


def test_question_is_not_put_before_what_it_asks(api: Api) -> None:
    old = api.save("The library is open until ten.", occurred_at="2026-01-01T00:00:00Z")
    new = api.save("Is the library closed?", occurred_at="2026-02-01T00:00:00Z")
    notice(new["id"], old["id"])
    assert contents(api.search("library open"))[0] == "The library is open until ten."


def test_undecided_conflict_comes_before_newer_decided_one(api: Api, prices: list[dict[str, Any]]) -> None:
    old, new = (memory["id"] for memory in prices)
    loser = api.save("Fees of the sports club")["id"]
    undecided = notice(new, old)
    notice(new, loser, outcome=ConflictOutcome.SUPERSEDED_EXISTING)
    Memory.objects.filter(uuid=loser).update(status="superseded")
    assert conflicts_of(api.search(QUERY))[NEW]["id"] == str(undecided.uuid)


def test_conflict_with_deleted_memory_is_left_out(api: Api, prices: list[dict[str, Any]]) -> None:
    notice(prices[1]["id"], prices[0]["id"])
    api.delete(f"/api/semantic/memories/{prices[0]['id']}")
    assert conflicts_of(api.search(QUERY)) == {NEW: None}


@pytest.mark.parametrize("bound", [Scope("ana", "home"), Scope("ana", None, "chef"), Scope("ana", "home", "chef")])
def test_key_learns_nothing_of_conflicts_outside_its_bound(bound: Scope) -> None:
    hub = api_for(Scope())
    mine = hub.save(OLD, user_id="ana", household_id="home", persona_id="chef")
    other = hub.save("The gym is free.", user_id="ana", household_id="work", persona_id="nurse")
    # Receipts are about two memories of one scope; a row that says otherwise must show nothing either.
    for candidate, existing in ((mine, other), (other, mine)):
        receipt = notice(candidate["id"], existing["id"])
        answer = api_for(bound, Permission.READ).search(QUERY)
        assert conflicts_of(answer) == {OLD: None}
        receipt.delete()
    assert hub.search(QUERY, current_first=False)["count"] == 2


def test_every_bound_sees_the_conflicts_of_its_scope_only(api: Api, prices: list[dict[str, Any]]) -> None:
    notice(prices[1]["id"], prices[0]["id"])
    ids = list(Memory.objects.values_list("pk", flat=True))
    for scope, count in ((Scope(), 1), (Scope("ana"), 1), (Scope("ben"), 0), (Scope("ana", "home"), 0)):
        found = read_open_conflicts(Access(scope, Permission.READ, "test"), ids)
        assert len(found) == count
        assert {memory for one in found for memory in one.memories} == (set(ids) if count else set())


def test_statement_of_another_scope_is_of_another_matter() -> None:
    hub = api_for(Scope())
    hub.save(OLD, user_id="ana", persona_id="chef", occurred_at="2026-01-01T00:00:00Z")
    hub.save(NEW, user_id="ana", persona_id="nurse", occurred_at="2026-02-01T00:00:00Z")
    assert contents(hub.search(QUERY)) == contents(hub.search(QUERY, current_first=False)) == [OLD, NEW]


def test_document_describes_field_and_conflict(api: Api) -> None:
    schemas = yaml.safe_load(api.get("/api/schema").content)["components"]["schemas"]
    assert schemas["SearchInputRequest"]["properties"]["current_first"]["type"] == "boolean"
    assert set(schemas["OpenConflictOutput"]["properties"]) == {"id", "with", "state"}
    assert "conflict" in schemas["FoundOutput"]["required"]


@pytest.mark.parametrize(
    ("query", "holds", "later"),
    [
        ("Where do I work?", "I work at the bakery.", "I might work at the library one day."),
        ("Which tea do I drink?", "I drink black tea.", "I would love to drink white tea."),
        ("Does Ana eat fish?", "Ana eats fish.", "Ben claims that Ana eats no fish."),
    ],
)
def test_what_is_planned_wished_or_reported_is_not_put_before_what_holds(
    api: Api, query: str, holds: str, later: str
) -> None:
    old = api.save(holds, occurred_at="2026-01-01T00:00:00Z")
    new = api.save(later, occurred_at="2026-02-01T00:00:00Z")
    Conflict.objects.all().delete()
    assert contents(api.search(query)) == [holds, later]
    notice(new["id"], old["id"])
    assert contents(api.search(query)) == [holds, later]
