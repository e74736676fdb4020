"""The store over REST and in the background. LangGraph's use of it is in tests/integration/clients."""

import json
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from apps.core.db.user_locks import lock_user
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission, Scope, system_access
from apps.core.pauses import pause_begin
from apps.llm.domain.embedder import EmbeddingSpaceId
from apps.llm.services import space_activate, space_get_or_create
from apps.store.domain.operations import Get, Operation, Put, Search
from apps.store.models import StoreItem
from apps.store.services import store_clear, store_reembed, store_run
from tests.api import Api, api_for, belong
from tests.integration.personal.hubs import empty_hub, exported, imported
from tests.threads import at_once

pytestmark = pytest.mark.django_db
ANA = Scope("ana")
ACCESS = system_access("test")
PLACE: dict[str, Any] = {"namespace": ["n"], "key": "k"}


def run(*operations: Operation, owner: Scope = ANA) -> list[Any]:
    return store_run(access=ACCESS, scope=owner, operations=operations)


def put(key: str, *, ttl: float | None = None, texts: tuple[str, ...] = (), **value: Any) -> Put:
    return Put(("n",), key, value, texts, ttl)


def post(api: Api, *operations: dict[str, Any], **scope: Any) -> Any:
    return api.post("/api/store", {**scope, "operations": list(operations)})


def test_operations_are_done_in_order_all_or_none() -> None:
    api = api_for(ANA)
    put_1, put_2 = ({"op": "put", **PLACE, "value": {"v": v}} for v in (1, 2))
    get, delete = {"op": "get", **PLACE}, {"op": "delete", **PLACE}
    results = post(api, get, put_1, get, put_2, delete, get, put_2, get).json()["results"]
    found = [one["item"] and one["item"]["value"] for one in results if one]
    assert (len(results), found) == (8, [None, {"v": 1}, None, {"v": 2}])
    refused = post(api, put_1, {"op": "search", "namespace": [], "filter": {"v": {"$gt": None}}})
    assert refused.status_code == 400
    assert post(api, get).json()["results"][0]["item"]["value"] == {"v": 2}


def test_what_is_wrong_is_named() -> None:
    api = api_for(ANA)
    good = {"op": "put", **PLACE, "value": {}}
    for wrong, attr in (
        ({"op": "push"}, "op"),
        ({"op": "get", "namespace": ["n"]}, "key"),
        ({"op": "get", **PLACE, "value": {}}, "value"),
        ({**good, "value": []}, "value"),
        ({**good, "value": {"a": "x" * 100_001}}, "value"),
        ({**good, "value": {"a": "\0"}}, "value"),
        ({**good, "namespace": [""]}, "namespace.0"),
        ({**good, "namespace": ["a"] * 21}, "namespace"),
        ({**good, "key": "x" * 501}, "key"),
        ({**good, "texts": [""]}, "texts.0"),
        ({**good, "ttl": -1}, "ttl"),
        ({**good, "ttl": 1e9}, "ttl"),
        ({"op": "search", "namespace": [], "limit": 1001}, "limit"),
        ({"op": "list", "conditions": [{"match": "infix", "path": []}]}, "conditions.0.match"),
    ):
        answer = post(api, good, wrong)
        assert answer.status_code == 400, wrong
        assert answer.json()["errors"][0]["attr"] == f"operations.1.{attr}"
    many = [{**good, "texts": [f"text {n} {m}" for m in range(300)]} for n in range(2)]
    assert post(api, *many).json()["errors"][0]["code"] == "max_length"
    assert post(api).status_code == post(api, *[good] * 501).status_code == 400
    assert not StoreItem.objects.exists()


def test_a_household_is_another_owner() -> None:
    belong(Scope("ana", "home"))
    everyone, home = api_for(Scope()), api_for(Scope(household_id="home"))
    here = {"op": "get", **PLACE}
    for api, scope, word in ((api_for(ANA), {}, "ana"), (home, {"user_id": "ana"}, "home")):
        assert post(api, {"op": "put", **PLACE, "value": {"of": word}}, **scope).status_code == 200
    for scope, word in (({"user_id": "ana"}, "ana"), ({"user_id": "ana", "household_id": "home"}, "home")):
        assert post(everyone, here, **scope).json()["results"][0]["item"]["value"] == {"of": word}
    assert post(home, here, user_id="ana", household_id="away").status_code == 404
    assert post(api_for(ANA), here, household_id="away").json()["results"] == [{"item": None}]
    put_there = {"op": "put", **PLACE, "value": {}}
    assert post(api_for(ANA), put_there, household_id="away").status_code == 403
    assert StoreItem.objects.count() == 2


def test_reads_of_a_reading_key_prolong_nothing() -> None:
    run(put("k", ttl=10))
    before = StoreItem.objects.get().expires_at
    reader = api_for(ANA, Permission.READ)
    assert post(reader, {"op": "get", **PLACE}).json()["results"][0]["item"]["value"] == {}
    assert post(reader, {"op": "delete", **PLACE}).status_code == 403
    assert StoreItem.objects.get().expires_at == before


def test_nothing_is_kept_of_who_paused_or_is_forgotten() -> None:
    run(put("k"))
    api, bens = api_for(ANA), api_for(Scope("ben"))
    pause_begin(user_id="ana", until=None, actor="person:ana")
    refused = post(api, {"op": "put", **PLACE, "value": {}})
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (409, "saving_paused")
    assert post(api, {"op": "delete", **PLACE}).status_code == 200
    lock_user("ben", utcnow(SYSTEM_CLOCK))
    refused = post(bens, {"op": "put", **PLACE, "value": {}})
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (409, "being_forgotten")


@pytest.mark.django_db(transaction=True)
def test_an_export_is_the_same_in_another_hub() -> None:
    run(put("one", texts=("green tea",), a=1.0, ttl=60), put("two", b=["ü", None]))
    run(put("one"), owner=Scope("ana", "home", "chef"))
    run(put("one"), owner=Scope("ben"))
    file, mine = exported(), exported(ANA)
    assert mine.count(b'"kind":"store_item"') == 3
    assert exported(Scope("ana", "home")).count(b'"kind":"store_item"') == 1
    empty_hub()
    assert imported(file).new["store_item"] == 4
    assert (exported(), imported(file).new["store_item"]) == (file, 0)
    # Vectors are made again.
    assert [score for _, score in run(Search((), query="green tea"))[0]] == [None, None]
    assert store_reembed() == 1
    found = run(Search((), query="green tea"))[0]
    assert [(item.key, score is None) for item, score in found] == [("one", False), ("two", True)]
    lines = [json.loads(line) for line in file.splitlines()]
    for change in ({"user_id": ""}, {"value": []}, {"namespace": "n"}, {"key": "x" * 501}):
        bad = [{**line, **change} if line["kind"] == "store_item" else line for line in lines]
        with pytest.raises(Exception, match="Line"):
            imported(b"".join(json.dumps(line).encode() + b"\n" for line in bad))


def test_what_has_expired_is_removed() -> None:
    run(put("gone", ttl=1), put("stays", ttl=60), put("ever"))
    StoreItem.objects.filter(key="gone").update(expires_at=utcnow(SYSTEM_CLOCK) - timedelta(seconds=1))
    assert run(Get(("n",), "gone")) == [None]
    assert (store_clear(), store_clear()) == (1, 0)
    assert set(StoreItem.objects.values_list("key", flat=True)) == {"stays", "ever"}


def test_another_model_gets_vectors_of_its_own() -> None:
    run(put("k", texts=("green tea", "black coffee")), put("none"))
    first = StoreItem.objects.get(key="k")
    assert (store_reembed(), len(first.vectors)) == (0, 2)
    # As if the present model had been chosen after another one.
    other = space_get_or_create(EmbeddingSpaceId("other", 3))
    StoreItem.objects.update(space=other, vectors=[[1.0, 0.0, 0.0]])
    assert run(Search((), query="black coffee"))[0][0][1] is None
    assert store_reembed() == 1
    again = StoreItem.objects.get(key="k")
    assert (again.space, again.vectors, again.updated_at) == (first.space, first.vectors, first.updated_at)
    assert run(Search((), query="black coffee"))[0][0][1] == pytest.approx(1.0, abs=1e-3)
    # While the hub's model is another one than the active space, nothing is made.
    space_activate(space=other)
    assert store_reembed() == 0


@pytest.mark.django_db(transaction=True)
def test_writers_at_once_leave_one_row_for_each_key() -> None:
    keys = [f"k{n}" for n in range(20)]
    puts = [put(key, ttl=60, texts=(key,)) for key in keys]
    calls = [partial(run, *puts[:10], Get(("n",), "k3"), *puts[10:]), partial(run, *reversed(puts))] * 4
    at_once(*calls, partial(run, Search((), limit=100)), *[partial(run, Get(("n",), key)) for key in keys[:3]])
    assert sorted(StoreItem.objects.values_list("key", flat=True)) == sorted(keys)
