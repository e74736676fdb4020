"""A superseded decision does not rank above what replaced it: what is in force comes first."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.services import person_create
from apps.core.domain.scope import Access, Permission, Scope
from apps.retrieval.domain.query import SearchQuery
from apps.semantic.models import Memory
from apps.semantic.search.search import Found, memory_search
from apps.semantic.tools import search_memories
from apps.sync.models import KnowledgeItem, SyncKind
from tests.api import Api, api_for
from tests.integration.admin.pages import address
from tests.integration.sync.decision_pairs import PAIRS, files_of
from tests.integration.sync.syncs import OPERATOR, OWNER, Hub, make_hub, path_of, record

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = "How do services get data of each other?"
OLD = record(12, "Calls between services", text="Services get data of each other over REST.")
NEW = record(17, "Events", text="Changes are published.", more="supersedes: ADR-0012\n")


def ask(question: str = QUESTION, access: Access = OPERATOR, **fields: Any) -> tuple[Found, ...]:
    return memory_search(access, SearchQuery(scope=Scope(OWNER), query=question, **fields)).found


def ids(found: tuple[Found, ...]) -> list[str]:
    return [str(one.memory.metadata.get("item_id")) for one in found]


@pytest.fixture
def services(tmp_path: Path) -> Hub:
    """Return a source of a decision, the one that replaced it, and others."""
    others = {path_of(number): record(number, f"Tea {number}") for number in range(30, 45)}
    hub = make_hub(tmp_path, {path_of(12): OLD, path_of(17): NEW, **others})
    hub.sync(SyncKind.FULL)
    return hub


@pytest.fixture
def api() -> Api:
    """Return an operator of the hub."""
    return api_for(Scope(), Permission.OPERATOR)


def test_one_in_force_is_first_in_95_percent_of_40_pairs(tmp_path: Path) -> None:
    files: dict[str, str] = {}
    expected = []
    for position, one in enumerate(PAIRS):
        written, old, new = files_of(position, one)
        files |= written
        expected.append((one.question, old, new))
    hub = make_hub(tmp_path, files)
    hub.sync(SyncKind.FULL)
    assert len(hub.items) == 80
    assert {hub.items[old].status for _, old, _ in expected} == {"superseded"}
    wrong = [(question, found[:2]) for question, _, new in expected if (found := ids(ask(question)))[0] != new]
    print(f"in force first: {len(PAIRS) - len(wrong)} of {len(PAIRS)}")
    assert len(wrong) <= 2, wrong


def test_what_took_its_place_is_brought_before_a_superseded_hit(services: Hub) -> None:
    assert ids(ask(top_k=1)) == ["ADR-0017"]
    first, second = ask(top_k=2)
    assert (first.memory.metadata["item_id"], second.memory.metadata["item_id"]) == ("ADR-0017", "ADR-0012")
    assert first.succeeds == second.memory.uuid
    assert second.succeeded_by == (first.memory.uuid,)


def test_search_for_what_is_in_force_leaves_the_rest_out_and_fills_up(services: Hub) -> None:
    found = ids(ask(top_k=10, in_force=True))
    assert len(found) == 10
    assert found[0] == "ADR-0017"
    assert "ADR-0012" not in found


def test_chain_of_replacements_leads_to_the_one_in_force(services: Hub) -> None:
    services.write({path_of(20): record(20, "Copies", text="Each keeps a copy.", more="supersedes: ADR-0017\n")})
    services.sync()
    assert ids(ask(top_k=1)) == ["ADR-0020"]


def test_deprecated_decision_comes_after_what_is_in_force_on_the_matter(tmp_path: Path) -> None:
    hub = make_hub(tmp_path, {
        path_of(1): record(1, "Queues", "deprecated", "Jobs wait in a queue of RabbitMQ."),
        path_of(2): record(2, "Jobs", text="Jobs wait in a table."),
        path_of(3): record(3, "Jobs later", "proposed", "Jobs wait in a queue of Kafka."),
    })  # fmt: skip
    hub.sync(SyncKind.FULL)
    assert ids(ask("Where do jobs wait in a queue?"))[0] == "ADR-0002"
    assert ids(ask("Where do jobs wait in a queue?", in_force=True)) == ["ADR-0002"]


def test_filter_of_a_search_holds_for_what_took_the_place(services: Hub, api: Api) -> None:
    asked = {"user_id": OWNER, "query": QUESTION, "filter": {"metadata.item_id": "ADR-0012"}}
    assert [
        one["memory"]["metadata"]["item_id"] for one in api.post("/api/semantic/search", asked).json()["results"]
    ] == ["ADR-0012"]


def test_explain_shows_standing_and_successor(services: Hub, api: Api) -> None:
    body = {"user_id": OWNER, "query": QUESTION, "limit": 2, "explain": True}
    new, old = api.post("/api/semantic/search", body).json()["results"]
    assert (new["in_force"], old["in_force"]) == (True, False)
    assert new["succeeds"] == old["memory"]["id"]
    assert old["explain"]["in_force"] == {
        "status": "superseded", "share": 0.5, "succeeds": None, "succeeded_by": [new["memory"]["id"]],
    }  # fmt: skip


def test_rest_search_leaves_out_what_is_not_in_force_where_it_is_asked_to(services: Hub, api: Api) -> None:
    body = {"user_id": OWNER, "query": QUESTION, "limit": 50, "in_force": True}
    answer = api.post("/api/semantic/search", body).json()
    assert all(one["in_force"] for one in answer["results"])
    diagnostics = answer["diagnostics"]
    assert diagnostics["filtered"]["in_force"] == 1
    assert diagnostics["considered_count"] == diagnostics["matched_count"] + diagnostics["filtered_count"]


def test_tool_finds_what_is_in_force_unless_it_is_asked_for_more(services: Hub) -> None:
    access = Access(Scope(OWNER), Permission.READ, "assistant")
    default = search_by_tool(access, {"query": QUESTION, "limit": 20})
    everything = search_by_tool(access, {"query": QUESTION, "limit": 20, "in_force": False})
    assert "ADR-0012" not in default
    assert "ADR-0012" in everything


def search_by_tool(access: Access, parameters: dict[str, Any]) -> list[str]:
    results = search_memories(access, parameters)["results"]
    return [str(one["memory"]["metadata"]["item_id"]) for one in results]


def test_memories_of_people_are_as_before(services: Hub, api: Api) -> None:
    api.save("Ana likes tea.", user_id="ana")
    [found] = api.post("/api/semantic/search", {"user_id": "ana", "query": "tea", "explain": True}).json()["results"]
    assert found["in_force"] is True
    assert found["explain"]["in_force"] is None


# On pages


def test_pages_of_a_person_say_what_is_not_in_force_and_what_is_instead(services: Hub) -> None:
    browser, by_id = Client(), {one.memory.metadata["item_id"]: one.memory for one in ask(top_k=2)}
    browser.force_login(person_create(username="platform", person_id=OWNER))
    answered = browser.post(reverse("webui:ask"), {"question": QUESTION}).content.decode()
    assert answered.count("· not in force") == 1
    old, new = (reverse("webui:memory", args=[by_id[one].uuid]) for one in ("ADR-0012", "ADR-0017"))
    page = browser.get(old).content.decode()
    assert "Not in force" in page
    assert f'Now this holds: <a href="{new}"' in page
    assert "Not in force" not in browser.get(new).content.decode()


def test_pages_of_operators_say_what_is_not_in_force(services: Hub, admin_client: Client) -> None:
    by_id = {one.memory.metadata["item_id"]: one.memory for one in ask(top_k=2)}
    page = admin_client.get(address(Memory, "change", by_id["ADR-0012"].pk)).content.decode()
    assert "Not in force: searches find it below what is in force." in page
    assert address(Memory, "change", by_id["ADR-0017"].pk) in page
    shown = {
        name: admin_client.get(address(KnowledgeItem, "change", services.items[name].pk)).content.decode()
        for name in ("ADR-0012", "ADR-0017")
    }
    assert "<dt>In force</dt><dd>No</dd>" in shown["ADR-0012"]
    assert "<dt>In force</dt><dd>Yes</dd>" in shown["ADR-0017"]
