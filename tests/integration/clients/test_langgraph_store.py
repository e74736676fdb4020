"""A store of LangGraph against a real hub: what its own stores promise, and a graph that remembers by it."""

import asyncio
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypedDict

import pytest
from django.conf import settings
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchItem,
    SearchOp,
)

from apps.core.domain.scope import Permission, Scope
from apps.store.models import StoreItem
from memoryhub_client import Client, NotFound, NotPermitted
from memoryhub_client.langgraph_store import MemoryHubStore
from tests.api import api_for

pytestmark = pytest.mark.django_db(transaction=True)
DOCS = ("test", "docs")


@pytest.fixture
def hub(url: str, key: str) -> Iterator[Client]:
    with Client(url, key) as hub:
        yield hub


@pytest.fixture
def store(hub: Client) -> MemoryHubStore:
    return MemoryHubStore(hub, fields=["text"])


def keys_of(found: Any) -> list[str]:
    return [one.key for one in found]


def fill(store: BaseStore, *namespaces: tuple[str, ...]) -> None:
    store.batch([PutOp(namespace, "k", {"at": place}) for place, namespace in enumerate(namespaces)])


# --- put, get, delete ---------------------------------------------------------------------------------


def test_a_value_is_kept_replaced_and_deleted(store: MemoryHubStore) -> None:
    value = {"title": "Tea", "n": 1, "f": 1.5, "yes": True, "none": None, "list": [1, {"a": "ü"}], "": "", "a.b": "茶"}
    store.put(DOCS, "one", value)
    first = store.get(DOCS, "one")
    assert isinstance(first, Item)
    assert (first.namespace, first.key, first.value) == (DOCS, "one", value)
    assert datetime.now(UTC) - timedelta(minutes=1) < first.created_at == first.updated_at
    store.put(DOCS, "one", {"title": "Coffee"})
    second = store.get(DOCS, "one")
    assert second is not None
    assert (second.value, second.created_at) == ({"title": "Coffee"}, first.created_at)
    assert second.updated_at > first.updated_at
    assert store.get(("test",), "one") is store.get(DOCS, "two") is None
    store.delete(DOCS, "one")
    store.delete(DOCS, "one")
    assert store.get(DOCS, "one") is None


def test_a_batch_reads_what_was_there_before_it(store: MemoryHubStore) -> None:
    store.put(("test", "foo"), "k1", {"data": "v1"})
    store.put(("test", "bar"), "k2", {"data": "v2"})
    results = store.batch(
        [
            PutOp(("test", "foo"), "k1", {"data": "new"}),
            GetOp(("test", "foo"), "k1"),
            PutOp(("test",), "k3", {"data": "first"}),
            SearchOp(("test",), filter={"data": "v1"}),
            ListNamespacesOp(limit=10),
            GetOp(("test",), "k3"),
            PutOp(("test", "bar"), "k2", None),
            PutOp(("test",), "k3", {"data": "last"}),
            SearchOp(("test",), limit=10),
        ]
    )
    assert [results[place] for place in (0, 2, 5, 6, 7)] == [None] * 5
    assert isinstance(results[1], Item)
    assert results[1].value == {"data": "v1"}
    assert keys_of(results[3]) == ["k1"]
    assert results[4] == [("test", "bar"), ("test", "foo")]
    assert sorted(keys_of(results[8])) == ["k1", "k2"]
    now = {one.key: one.value["data"] for one in store.search(("test",))}
    assert now == {"k1": "new", "k3": "last"}
    assert store.batch([]) == []
    with pytest.raises(ValueError, match="Unknown operation"):
        store.batch(["get"])  # type: ignore[list-item]


def test_a_large_batch_goes_in_parts(store: MemoryHubStore) -> None:
    store.batch([PutOp(DOCS, f"k{n:03}", {"n": n, "pad": "x" * 20_000}) for n in range(230)])
    assert sorted(keys_of(store.search(DOCS, limit=1000))) == [f"k{n:03}" for n in range(230)]
    read = store.batch([GetOp(DOCS, f"k{n:03}") for n in range(235)])
    assert [one is None for one in read] == [False] * 230 + [True] * 5


def test_namespaces_are_taken_letter_by_letter(store: MemoryHubStore) -> None:
    labels = [
        "%",
        "_",
        "*",
        "a%b",
        "a_b",
        "axb",
        "A",
        "a",
        " ",
        "a b",
        "ü",
        "'",
        '"',
        "\\",
        "{a,b}",
        "(x)",
        "[x]",
        "NULL",
    ]
    namespaces = [("root", label, "end") for label in labels] + [("root", label) for label in labels]
    fill(store, *namespaces)
    for label in labels:
        found = store.search(("root", label), limit=100)
        assert {one.namespace for one in found} == {("root", label), ("root", label, "end")}, label
        item = store.get(("root", label), "k")
        assert item is not None
        assert item.namespace == ("root", label)
    assert store.list_namespaces(prefix=("root",)) == sorted(namespaces)
    # Past the checks of the library, as its own stores take them: dots, and the root that is reserved.
    store.batch(
        [PutOp(("a.b",), "k", {"n": 1}), PutOp(("a", "b"), "k", {"n": 2}), PutOp(("langgraph",), "k", {"n": 3})]
    )
    assert [one.value["n"] for one in store.batch([GetOp(("a.b",), "k"), GetOp(("a", "b"), "k")])] == [1, 2]  # type: ignore[union-attr]
    assert store.search(("langgraph",))[0].value == {"n": 3}
    for wrong in ((), ("a.b",), ("a", ""), ("langgraph", "x"), ("a", 1)):
        with pytest.raises(InvalidNamespaceError):
            store.put(wrong, "k", {})  # type: ignore[arg-type]


# --- search -------------------------------------------------------------------------------------------


def test_search_without_words_pages_the_latest_first(store: MemoryHubStore) -> None:
    for n in range(5):
        store.put(("test", f"n{n % 2}"), f"k{n}", {"n": n})
    assert keys_of(store.search(("test",))) == ["k4", "k3", "k2", "k1", "k0"]
    assert keys_of(store.search((), limit=2, offset=1)) == ["k3", "k2"]
    assert keys_of(store.search(("test", "n1"))) == ["k3", "k1"]
    assert store.search(("tes",)) == store.search(("test",), limit=0) == store.search(("test",), offset=9) == []
    assert all(isinstance(one, SearchItem) and one.score is None for one in store.search(("test",)))


def test_filters_compare_members(store: MemoryHubStore) -> None:
    values: dict[str, dict[str, Any]] = {
        "a": {
            "n": 2,
            "on": True,
            "name": "apple",
            "user-id": "x-1",
            "a.b": 1,
            "tags": ["t"],
            "in": {"d": {"e": 1, "f": 2}},
        },
        "b": {
            "n": 9,
            "on": False,
            "name": "Banana",
            "user-id": "x-2",
            "a.b": 2,
            "tags": ["t", "u"],
            "in": {"d": {"e": 2}},
        },
        "c": {"n": 10, "on": 1, "name": "10", "user-id": None, "tags": []},
        "d": {"n": 9.5, "on": "true", "name": None, "a": {"b": 1}},
        "e": {"n": "9", "%": "p", "'; --": 1},
    }
    store.batch([PutOp(DOCS, key, value) for key, value in values.items()])
    asked: list[tuple[dict[str, Any], str]] = [
        ({"n": 9}, "b"),
        ({"n": {"$eq": 9}}, "b"),
        ({"n": {"$ne": 9}}, "acde"),
        ({"n": {"$gt": 9}}, "cd"),
        ({"n": {"$gte": 9}}, "bcd"),
        ({"n": {"$lt": 9.5}}, "ab"),
        ({"n": {"$lte": 9}}, "ab"),
        ({"n": {"$gt": 2, "$lt": 10}}, "bd"),
        ({"n": {"$gte": "9"}}, "e"),
        ({"name": {"$gt": "Apple"}}, "ab"),
        ({"on": True}, "a"),
        ({"on": False}, "b"),
        ({"on": {"$eq": 1}}, "c"),
        ({"on": {"$ne": True}}, "bcde"),
        ({"user-id": "x-1"}, "a"),
        ({"user-id": {"$ne": "x-1"}}, "bcde"),
        ({"user-id": None}, "cde"),
        ({"user-id": {"$ne": None}}, "ab"),
        ({"a.b": 1}, "a"),
        ({"a.b": {"$gte": 1}}, "ab"),
        ({"a": {"b": 1}}, "d"),
        ({"tags": ["t"]}, "a"),
        ({"tags": []}, "c"),
        ({"in": {"d": {"e": 1}}}, "a"),
        ({"in": {"d": {"e": {"$gte": 1}}}}, "ab"),
        ({"%": "p"}, "e"),
        ({"'; --": 1}, "e"),
        ({"missing": {"$gt": 0}}, ""),
        ({"n": 9, "on": False}, "b"),
        ({"n": 9, "on": True}, ""),
        ({}, "abcde"),
    ]
    found = store.batch([SearchOp(DOCS, filter=one) for one, _ in asked])
    for (one, keys), items in zip(asked, found, strict=True):
        assert "".join(sorted(keys_of(items))) == keys, one
    for wrong in ({"n": {"$in": [1]}}, {"n": {"$gt": True}}, {"n": {"$eq": 1, "x": 2}}, {"n": {"$lt": None}}):
        with pytest.raises(ValueError, match="filter"):
            store.search(DOCS, filter=wrong)


def test_search_by_meaning_ranks_and_scores(store: MemoryHubStore) -> None:
    docs = {
        "apple": {"text": "red apple", "color": "red", "score": 4.5},
        "car": {"text": "red car", "color": "red", "score": 3.0},
        "green": {"text": "green apple", "color": "green", "score": 4.0},
        "tea": {"text": "这是中文", "color": "blue", "score": 3.5},
    }
    store.batch([PutOp(DOCS, key, value) for key, value in docs.items()])
    found = store.search(DOCS, query="red car")
    scores = [one.score for one in found]
    assert (found[0].key, len(found), scores) == ("car", 4, sorted(scores, key=lambda score: -(score or 0)))
    assert found[0].score == pytest.approx(1.0, abs=1e-3)
    assert keys_of(store.search(DOCS, query="apple", filter={"color": "red"})) == ["apple", "car"]
    assert keys_of(store.search(DOCS, query="red", filter={"score": {"$gte": 4.0}, "color": "green"})) == ["green"]
    assert store.search(DOCS, query="这是中文")[0].key == "tea"
    pages = [store.search(DOCS, query="red apple", limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [len(page) for page in pages] == [2, 2, 0]
    assert keys_of(pages[0] + pages[1]) == keys_of(store.search(DOCS, query="red apple"))
    assert [len(store.search(DOCS, query=query)) for query in ("", None, "x " * 4000, "!@#$%^&*()")] == [4] * 4
    # A new value is found by its new text, and no more by the former one.
    store.put(DOCS, "car", {"text": "blue boat"})
    assert store.search(DOCS, query="red car")[0].key == "apple"
    assert store.search(DOCS, query="blue boat")[0].key == "car"


def test_put_says_what_is_indexed(store: MemoryHubStore, hub: Client) -> None:
    value = {"text": "nothing here", "a": {"b": "green tea"}, "list": [{"c": "black coffee"}, {"c": "cold milk"}]}
    store.put(DOCS, "default", value)
    store.put(DOCS, "paths", value, index=["a.b", "list[*].c"])
    store.put(DOCS, "none", value, index=False)
    store.put(DOCS, "whole", value, index=["$"])
    for query in ("green tea", "black coffee", "cold milk"):
        best, *others = store.search(DOCS, query=query)
        assert (best.key, best.score) == ("paths", pytest.approx(1.0, abs=1e-3)), query
        # The best of its texts counts, and what has none comes last, without a score.
        assert (others[-1].key, others[-1].score) == ("none", None)
    assert store.search(DOCS, query="nothing here")[0].key == "default"
    assert "none" not in keys_of(store.search(DOCS, query="nothing here", limit=3))
    unindexed = MemoryHubStore(hub, fields=())
    unindexed.put(DOCS, "paths", value)
    assert [one.score for one in store.search(DOCS, query="green tea", filter={"a": {"b": "green tea"}}, limit=4)][
        2:
    ] == [
        None,
        None,
    ]
    MemoryHubStore(hub).put(("all",), "k", {"likes": "green tea"})
    assert StoreItem.objects.get(key="k").texts == ['{"likes": "green tea"}']


# --- namespaces ---------------------------------------------------------------------------------------


def test_namespaces_are_listed(store: MemoryHubStore) -> None:
    namespaces = [
        ("a", "b", "c"),
        ("a", "b", "d", "e"),
        ("a", "b", "d", "i"),
        ("a", "b", "f"),
        ("a", "c", "f"),
        ("b", "a", "f"),
        ("users", "123"),
        ("users", "456", "settings"),
        ("Z", "users"),
    ]
    fill(store, *namespaces, namespaces[0])
    assert store.list_namespaces() == sorted(namespaces)
    ab = [each for each in namespaces if each[:2] == ("a", "b")]
    asked: list[tuple[dict[str, Any], list[tuple[str, ...]]]] = [
        ({"prefix": ("a", "b")}, ab),
        ({"prefix": ["a", "b"], "limit": 2}, ab[:2]),
        ({"prefix": ("a", "b"), "offset": 2}, ab[2:]),
        ({"prefix": ("a", "b"), "max_depth": 3}, [("a", "b", "c"), ("a", "b", "d"), ("a", "b", "f")]),
        ({"max_depth": 1}, [("Z",), ("a",), ("b",), ("users",)]),
        ({"max_depth": 1, "limit": 2, "offset": 1}, [("a",), ("b",)]),
        ({"suffix": ("f",)}, [("a", "b", "f"), ("a", "c", "f"), ("b", "a", "f")]),
        ({"prefix": ("a",), "suffix": ("f",)}, [("a", "b", "f"), ("a", "c", "f")]),
        ({"prefix": ("a", "*", "f")}, [("a", "b", "f"), ("a", "c", "f")]),
        ({"suffix": ("*", "f")}, [("a", "b", "f"), ("a", "c", "f"), ("b", "a", "f")]),
        ({"suffix": ("b", "*", "i")}, [("a", "b", "d", "i")]),
        ({"prefix": ("*", "*", "*", "*")}, [("a", "b", "d", "e"), ("a", "b", "d", "i")]),
        ({"prefix": ("users", "123")}, [("users", "123")]),
        ({"prefix": ("user",)}, []),
        ({"suffix": ("users", "123", "x", "y", "z")}, []),
    ]
    for options, expected in asked:
        assert store.list_namespaces(**options) == expected, options
    two = (MatchCondition("prefix", ("a",)), MatchCondition("suffix", ("*", "e")), MatchCondition("prefix", ()))
    assert store.batch([ListNamespacesOp(two)]) == [[("a", "b", "d", "e")]]
    store.delete(("users", "123"), "k")
    assert store.list_namespaces(prefix=("users",)) == [("users", "456", "settings")]


# --- time to live -------------------------------------------------------------------------------------


def pass_time(seconds: float) -> None:
    """Let what is kept be older."""
    for row in StoreItem.objects.exclude(expires_at=None):
        StoreItem.objects.filter(pk=row.pk).update(expires_at=row.expires_at - timedelta(seconds=seconds))


def left(key: str) -> float:
    """In how many seconds an item expires."""
    expires_at = StoreItem.objects.get(key=key).expires_at
    assert expires_at is not None
    return (expires_at - datetime.now(UTC)).total_seconds()


def test_an_item_expires_unless_it_is_read(store: MemoryHubStore) -> None:
    store.put(DOCS, "k", {"text": "tea"}, ttl=1.5)
    assert left("k") == pytest.approx(90, abs=20)
    for read in (
        lambda: store.get(DOCS, "k"),
        lambda: store.search(DOCS),
        lambda: store.search(DOCS, query="tea"),
        lambda: store.batch([GetOp(DOCS, "k", refresh_ttl=False), GetOp(DOCS, "k")]),
    ):
        pass_time(60)
        read()
        assert left("k") == pytest.approx(90, abs=20)
    pass_time(60)
    assert store.get(DOCS, "k", refresh_ttl=False) is not None
    assert keys_of(store.search(DOCS, refresh_ttl=False)) == ["k"]
    assert left("k") < 31
    pass_time(31)
    assert store.get(DOCS, "k") is None
    assert store.search(DOCS) == store.search(DOCS, query="tea") == store.list_namespaces() == []
    # What expired is gone: the next value of the key is a new one.
    store.put(DOCS, "k", {"text": "coffee"})
    item = store.get(DOCS, "k")
    assert item is not None
    assert (item.created_at, StoreItem.objects.get().expires_at) == (item.updated_at, None)


def test_a_store_has_its_own_times(hub: Client) -> None:
    store = MemoryHubStore(hub, ttl={"default_ttl": 2, "refresh_on_read": False})
    store.put(DOCS, "default", {})
    store.put(DOCS, "own", {}, ttl=10)
    store.put(DOCS, "none", {}, ttl=None)
    pass_time(60)
    assert len(store.search(DOCS)) == 3
    assert (left("default"), left("own")) == (pytest.approx(60, abs=20), pytest.approx(540, abs=20))
    store.get(DOCS, "default", refresh_ttl=True)
    assert left("default") == pytest.approx(120, abs=20)
    with pytest.raises(ValueError, match="ttl"):
        store.put(DOCS, "wrong", {}, ttl=-1)


# --- async, owners, graphs ----------------------------------------------------------------------------


def test_a_store_serves_several_event_loops(store: MemoryHubStore) -> None:
    async def work(turn: int) -> None:
        await asyncio.gather(*(store.aput(("loop", str(turn)), f"k{n}", {"text": f"tea {n}"}) for n in range(10)))
        found = await asyncio.gather(*(store.aget(("loop", str(turn)), f"k{n}") for n in range(10)))
        assert [one.value["text"] for one in found if one] == [f"tea {n}" for n in range(10)]
        assert (await store.asearch(("loop", str(turn)), query="tea 7"))[0].key == "k7"
        await store.adelete(("loop", str(turn)), "k0")
        assert await store.aget(("loop", str(turn)), "k0") is None
        assert ("loop", str(turn)) in await store.alist_namespaces(prefix=("loop",))
        with pytest.raises(ValueError, match="filter"):
            await store.asearch(("loop",), filter={"a": {"$or": 1}})

    for turn in range(2):
        asyncio.run(work(turn))
    assert store.list_namespaces() == [("loop", "0"), ("loop", "1")]


def test_a_store_is_of_one_owner_alone(url: str, store: MemoryHubStore) -> None:
    store.put(DOCS, "k", {"of": "ana"})
    ben, reader = str(api_for(Scope("ben")).key), str(api_for(Scope("ana"), Permission.READ).key)
    everyone = str(api_for(Scope()).key)
    with Client(url, ben) as other, Client(url, ben, user_id="ana") as claims, Client(url, reader) as reads:
        theirs = MemoryHubStore(other)
        assert theirs.get(DOCS, "k") is None
        assert theirs.search(()) == theirs.search((), query="ana") == theirs.list_namespaces() == []
        theirs.put(DOCS, "k", {"of": "ben"})
        theirs.delete(DOCS, "other")
        with pytest.raises(NotFound):
            MemoryHubStore(claims).get(DOCS, "k")
        with pytest.raises(NotPermitted):
            MemoryHubStore(claims).put(DOCS, "k", {"of": "ben"})
        with pytest.raises(NotPermitted):
            MemoryHubStore(claims).delete(DOCS, "k")
        with pytest.raises(NotPermitted):
            MemoryHubStore(reads).put(DOCS, "k", {})
        assert [one.value for one in MemoryHubStore(reads).search(())] == [{"of": "ana"}]
    with Client(url, everyone, user_id="ana", household_id="home") as home, Client(url, everyone) as nobody:
        assert MemoryHubStore(home).search(()) == []
        MemoryHubStore(home).put(DOCS, "k", {"of": "home"})
        with pytest.raises(ValueError, match="user"):
            MemoryHubStore(nobody).search(())
    assert [one.value for one in store.search(())] == [{"of": "ana"}]


class Chat(TypedDict):
    said: str
    answer: str


def remember(state: Chat, *, store: BaseStore) -> dict[str, str]:
    """Answer with what is known, and remember what was said."""
    known = store.search(("facts",), query=state["said"], limit=1)
    store.put(("facts",), state["said"], {"text": state["said"]})
    return {"answer": known[0].value["text"] if known else "nothing"}


async def aremember(state: Chat, *, store: BaseStore) -> dict[str, str]:
    known = await store.asearch(("facts",), query=state["said"], limit=1)
    await store.aput(("facts",), state["said"], {"text": state["said"]})
    return {"answer": known[0].value["text"] if known else "nothing"}


def graph_of(node: Any, store: BaseStore) -> Any:
    builder = StateGraph(Chat)
    builder.add_node("remember", node)
    builder.add_edge(START, "remember")
    builder.add_edge("remember", END)
    return builder.compile(store=store)


def test_a_graph_remembers_between_runs(store: MemoryHubStore, url: str, key: str) -> None:
    graph = graph_of(remember, store)
    said = ["Ana likes green tea", "the meeting is on Monday", "which tea does Ana like"]
    assert [graph.invoke({"said": each})["answer"] for each in said] == ["nothing", said[0], said[0]]
    # Another process, and one that awaits.
    with Client(url, key) as hub:
        later = graph_of(aremember, MemoryHubStore(hub, fields=["text"]))
        assert asyncio.run(later.ainvoke({"said": "when is the meeting"}))["answer"] == said[1]


def test_the_guide_does_what_it_says(
    url: str, key: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMORYHUB_URL", url)
    monkeypatch.setenv("MEMORYHUB_KEY", key)
    page = (Path(settings.BASE_DIR) / "docs/guides/langgraph.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    # Each line of the second block is shown for what it answers.
    known: dict[str, Any] = {}
    exec(blocks[0], known)
    exec(blocks[1].replace("store.search(", "found = store.search(").replace("store.list", "names = store.list"), known)
    assert capsys.readouterr().out == "I drink green tea.\n"
    assert (keys_of(known["found"]), known["names"]) == (["tea"], [("ana", "drinks")])
    known["store"].hub.close()
