"""Filters, orders, totals and deletions over HTTP."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from apps.semantic.search import search as searching
from tests.api import MEMORIES, Api

NOWHERE = "00000000-0000-4000-8000-000000000000"
pytestmark = pytest.mark.django_db


def listed(api: Api, **query: Any) -> list[str]:
    """The contents of a list, over all of its pages."""
    names = {name: json.dumps(value) if name == "filter" else value for name, value in query.items()}
    path = f"{MEMORIES}?{'&'.join(f'{name}={quote(str(value))}' for name, value in names.items())}"
    found: list[str] = []
    while path:
        answer = api.get(path)
        assert answer.status_code == 200, answer.content
        page = answer.json()
        found += [memory["content"] for memory in page["results"]]
        path = page["next"] and page["next"].removeprefix("http://testserver")
    return found


@pytest.fixture
def shelf(api: Api) -> Api:
    """Three memories of books."""
    api.save("Dune was read", importance=0.9, metadata={"book": {"pages": 412}}, occurred_at="2026-01-05T10:00:00Z")
    api.save("Emma was bought", importance=0.2, metadata={"book": {"pages": 474}}, keywords=["gift"])
    lent = {"metadata": {"book": {"pages": "many"}}, "occurred_at": "2025-03-01T08:00:00Z"}
    api.save("Ulysses was lent", importance=0.5, **lent)
    return api


def test_list_takes_filters(shelf: Api) -> None:
    assert listed(shelf, filter={"metadata.book.pages": {"gt": 400}}) == ["Emma was bought", "Dune was read"]
    assert listed(shelf, filter={"not": {"metadata.book.pages": {"gt": 450}}}) == ["Ulysses was lent", "Dune was read"]
    assert listed(shelf, filter={"keywords": {"contains": "gift"}, "importance": {"lt": 0.3}}) == ["Emma was bought"]
    assert listed(shelf, filter={"occurred_at": {"lt": "2026-01-01T00:00:00Z"}}) == ["Ulysses was lent"]
    assert listed(shelf, filter={"confidence": {"gte": 1}}, limit=1) == listed(shelf)


def test_list_is_sorted_and_pages_of_an_order_join(shelf: Api) -> None:
    by_importance = ["Emma was bought", "Ulysses was lent", "Dune was read"]
    assert listed(shelf, sort="importance", limit=1) == by_importance
    assert listed(shelf, sort="-importance", limit=1) == by_importance[::-1]
    assert listed(shelf, sort="occurred_at", limit=1) == ["Emma was bought", "Ulysses was lent", "Dune was read"]
    assert listed(shelf, sort="-occurred_at", limit=2) == ["Dune was read", "Ulysses was lent", "Emma was bought"]


def test_pages_of_an_order_lead_back(shelf: Api) -> None:
    first = shelf.get(f"{MEMORIES}?sort=importance&limit=2").json()
    second = shelf.get(first["next"]).json()
    back = shelf.get(second["previous"]).json()
    assert back["results"] == first["results"]
    assert (back["previous"], second["next"]) == (None, None)


def test_equal_ones_are_in_the_order_of_arrival(api: Api) -> None:
    for name in "abcde":
        api.save(f"note {name}", importance=0.5)
    assert listed(api, sort="importance", limit=2) == [f"note {name}" for name in "abcde"]
    assert listed(api, sort="-importance", limit=2) == [f"note {name}" for name in "edcba"]


def test_total_is_counted_on_request(shelf: Api) -> None:
    assert "total" not in shelf.get(MEMORIES).json()
    answer = shelf.get(f"{MEMORIES}?count=true&limit=1&filter={quote(json.dumps({'importance': {'gte': 0.5}}))}").json()
    assert (len(answer["results"]), answer["total"]) == (1, 2)


def test_status_in_a_filter_replaces_the_default(shelf: Api) -> None:
    memory = shelf.get(MEMORIES).json()["results"][0]
    shelf.delete(f"{MEMORIES}/{memory['id']}")
    assert len(listed(shelf)) == 2
    assert listed(shelf, filter={"status": "deleted"}) == [memory["content"]]
    assert len(listed(shelf, filter={"status": {"exists": True}})) == 3


def test_search_takes_filters_and_accounts_for_them(shelf: Api) -> None:
    answer = shelf.search("book", filter={"metadata.book.pages": {"gte": 412}})
    assert {one["memory"]["content"] for one in answer["results"]} == {"Dune was read", "Emma was bought"}
    assert answer["diagnostics"]["filtered"] == {"filter": 1}
    assert answer["diagnostics"]["considered_count"] == 3
    for mode in ("vector", "keyword"):
        found = shelf.search("Dune", mode=mode, filter={"importance": 0.9})
        assert [one["memory"]["content"] for one in found["results"]] == ["Dune was read"]


@pytest.mark.parametrize("asked", ["", "{", "[]", "1", '{"color": 1}', '{"type": {"$gt": ""}}', "[" * 2000])
def test_what_is_no_filter_is_refused(api: Api, asked: str) -> None:
    answer = api.get(f"{MEMORIES}?filter={quote(asked)}")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["code"] == "invalid_filter"


def test_error_names_the_place(api: Api) -> None:
    answer = api.post("/api/semantic/search", {"query": "tea", "filter": {"any": [{"type": "x"}, {"importance": "1"}]}})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["attr"] == "filter.any.1.importance"


def test_many_are_deleted_by_ids(shelf: Api) -> None:
    ids = [memory["id"] for memory in shelf.get(MEMORIES).json()["results"][:2]]
    chosen = {"ids": [*ids, NOWHERE]}
    assert shelf.post(f"{MEMORIES}/delete", {**chosen, "dry_run": True}).json() == {
        "matched": 2, "deleted": 0, "managed": 0, "protected": 0, "dry_run": True,
    }  # fmt: skip
    assert len(listed(shelf)) == 3
    assert shelf.post(f"{MEMORIES}/delete", chosen).json() == {
        "matched": 2,
        "deleted": 2,
        "managed": 0,
        "protected": 0,
        "dry_run": False,
    }
    assert listed(shelf) == ["Dune was read"]
    assert shelf.post(f"{MEMORIES}/delete", chosen).json()["matched"] == 0
    assert shelf.post(f"{MEMORIES}/{ids[0]}/restore").status_code == 200
    assert [step["action"] for step in shelf.get(f"{MEMORIES}/{ids[0]}/history").json()["results"]] == [
        "created", "deleted", "restored",
    ]  # fmt: skip


def test_many_are_deleted_by_a_filter(shelf: Api) -> None:
    answer = shelf.post(f"{MEMORIES}/delete", {"filter": {"importance": {"lt": 0.6}}})
    assert answer.json() == {"matched": 2, "deleted": 2, "managed": 0, "protected": 0, "dry_run": False}
    assert listed(shelf) == ["Dune was read"]
    assert shelf.search("Emma")["count"] == 1, "only what is left is found"


@pytest.mark.parametrize(
    "body", [{}, {"filter": {}}, {"ids": []}, {"ids": ["x"]}, {"ids": [NOWHERE], "filter": {"type": "a"}}]
)
def test_deletion_without_a_choice_is_refused(api: Api, body: dict[str, Any]) -> None:
    assert api.post(f"{MEMORIES}/delete", body).status_code == 400


def test_pages_of_an_order_go_on_where_they_were_when_a_row_moves(api: Api) -> None:
    memories = [api.save(f"Book {number} was read") for number in range(6)]
    for sort, moved in (("updated_at", 1), ("-updated_at", 4)):
        order = memories if sort == "updated_at" else memories[::-1]
        first = api.get(f"{MEMORIES}?sort={sort}&limit=2").json()
        assert [one["id"] for one in first["results"]] == [one["id"] for one in order[:2]]
        # The row at which the page ends is changed, and goes to the end of the list, or to its beginning.
        api.patch(f"{MEMORIES}/{memories[moved]['id']}", {"importance": 0.7})
        second = api.get(first["next"]).json()
        assert [one["id"] for one in second["results"]] == [one["id"] for one in order[2:4]], sort
        memories.append(memories.pop(moved))


@pytest.mark.parametrize(
    "empty", [{}, {"all": []}, {"all": [{}]}, {"not": {"any": []}}, {"any": [{"all": []}, {"type": "a"}]}]
)
def test_a_filter_that_says_nothing_deletes_nothing(shelf: Api, empty: Any) -> None:
    answer = shelf.post(f"{MEMORIES}/delete", {"filter": empty})
    assert answer.status_code == 400, answer.content
    assert len(listed(shelf)) == 3


def test_joined_filters_are_counted(api: Api) -> None:
    wide = {"any": [{"any": [{"all": []}] * 100} for _ in range(100)]}
    answer = api.post("/api/semantic/search", {"query": "book", "filter": wide})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["code"] == "invalid_filter"


@pytest.mark.parametrize("place", ["0.5", "1e3", "-", "99999999999999999999999999999999", "1.2.3", "e"])
@pytest.mark.parametrize("sort", ["updated_at", "-importance", "occurred_at", ""])
def test_cursors_of_another_order_are_refused_or_read(shelf: Api, place: str, sort: str) -> None:
    [memory, *_] = shelf.get(MEMORIES).json()["results"]
    query = f"sort={sort}&" if sort else ""
    answer = shelf.get(f"{MEMORIES}?{query}cursor=older-{memory['id']}_{place}")
    assert answer.status_code in {200, 400}, answer.content


def test_what_is_changed_during_a_search_is_found_as_it_is(shelf: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    [memory] = [one for one in shelf.get(MEMORIES).json()["results"] if one["content"] == "Dune was read"]
    real = searching.read_allowed

    def then_changed(*arguments: Any) -> Any:
        allowed = real(*arguments)
        shelf.patch(f"{MEMORIES}/{memory['id']}", {"importance": 0.1})
        return allowed

    monkeypatch.setattr(searching, "read_allowed", then_changed)
    answer = shelf.search("Dune", filter={"importance": {"gt": 0.4}})
    assert [one["memory"]["content"] for one in answer["results"]] == ["Ulysses was lent"]
