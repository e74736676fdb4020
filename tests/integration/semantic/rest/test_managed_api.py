"""Managed memories over REST and in tools: shown and found, and changed by their manager only."""

import json
from typing import Any

import pytest

from apps.core.domain.scope import Access, Permission, Scope
from apps.llm.domain.protocol.parser import parse_output
from apps.llm.tools.requests import tool_registry
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.models import Memory
from tests.api import MEMORIES, Api
from tests.integration.semantic.managed_support import GONE, change, write
from tests.integration.semantic.managed_support import manager as manager

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("manager")]

TABS = "[ADR] Indent with tabs (accepted)"


@pytest.fixture
def pointer() -> str:
    """The address of a managed memory."""
    [uuid] = write(change(TABS, decay_policy=DecayPolicy.REINFORCEABLE, metadata={"layer": "team"}))
    return f"{MEMORIES}/{uuid}"


def codes(response: Any) -> tuple[int, list[str]]:
    return response.status_code, [error["code"] for error in response.json()["errors"]]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "", {"content": "Indent with spaces"}),
        ("PATCH", "", {"importance": 0.1}),
        ("DELETE", "", None),
        ("POST", "/reinforce", None),
    ],
)
def test_what_changes_it_is_refused(api: Api, pointer: str, method: str, path: str, body: Any) -> None:
    before = Memory.objects.values().get()
    assert codes(api.call(method, f"{pointer}{path}", body)) == (409, ["managed"])
    assert "where it is kept" in api.call(method, f"{pointer}{path}", body).json()["errors"][0]["detail"]
    assert Memory.objects.values().get() == before


def test_a_tool_cannot_reinforce_it(pointer: str) -> None:
    named = json.dumps({"id": pointer.rpartition("/")[2]})
    [request] = parse_output(f"[[ABP_TOOL:memory_reinforce]]{named}[[END_ABP_TOOL]]").requests
    result = tool_registry().execute(Access(Scope("ana"), Permission.WRITE, "key:ana"), request)
    assert (result.outcome, result.problems[0].code) == ("failed", "managed")


def test_a_deleted_one_is_not_restored(api: Api, pointer: str) -> None:
    uuid = Memory.objects.get().uuid
    write(deletes={uuid: "removed"})
    assert api.get(pointer).status_code == 404
    assert codes(api.post(f"{pointer}/restore")) == (409, ["managed"])
    assert codes(api.delete(pointer)) == (404, ["not_found"])
    assert [step["reason"] for step in api.get(f"{pointer}/history").json()["results"]] == ["added", "removed"]


def test_deleting_many_leaves_it_out_and_says_so(api: Api, pointer: str) -> None:
    api.save("Ana likes tea", source="knowledge")
    chosen: dict[str, Any] = {"filter": {"source": "knowledge"}}
    counted = {"matched": 1, "deleted": 0, "managed": 1, "protected": 0, "dry_run": True}
    assert api.post(f"{MEMORIES}/delete", {**chosen, "dry_run": True}).json() == counted
    assert api.post(f"{MEMORIES}/delete", chosen).json() == {**counted, "deleted": 1, "dry_run": False}
    assert api.get(pointer).status_code == 200


def test_one_whose_manager_is_gone_can_be_deleted_only(api: Api) -> None:
    [uuid] = write(change(TABS), manager=GONE)
    address = f"{MEMORIES}/{uuid}"
    assert codes(api.patch(address, {"importance": 0.1})) == (409, ["managed"])
    assert api.delete(address).status_code == 204
    assert codes(api.post(f"{address}/restore")) == (409, ["managed"])


def test_it_is_listed_found_and_marked(api: Api, pointer: str) -> None:
    own = api.save("Ana likes tabs of paper", source="conversation")
    assert own["managed"] is False
    for address in ("source=knowledge", 'filter={"metadata.layer":"team"}', "type=adr"):
        [listed] = api.get(f"{MEMORIES}?{address}").json()["results"]
        assert (listed["content"], listed["managed"], listed["source"]) == (TABS, True, "knowledge")
    assert {one["memory"]["managed"] for one in api.search("tabs")["results"]} == {True, False}
    [result] = api.search("tabs", filter={"metadata.layer": "team"})["results"]
    assert (result["memory"]["content"], result["conflict"]) == (TABS, None)


@pytest.mark.parametrize("field", [{"managed": True}, {"managed_by": "test:handbook"}])
def test_a_client_cannot_make_one(api: Api, field: dict[str, Any]) -> None:
    assert codes(api.post(MEMORIES, {"content": TABS, **field})) == (400, ["unknown_field"])
    memory = api.save(TABS, source="knowledge")
    assert memory["managed"] is False, "the source is a word that anyone may use"
    assert codes(api.patch(f"{MEMORIES}/{memory['id']}", field)) == (400, ["unknown_field"])
