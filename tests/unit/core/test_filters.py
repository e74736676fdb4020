"""The filter language: what can be read, what cannot, and what rows pass (docs/reference/api-conventions.md)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from apps.core.domain.filters.expression import EVERYTHING, FieldKind
from apps.core.domain.filters.match import matches
from apps.core.domain.filters.parse import MAX_COMPARISONS, MAX_DEPTH, FilterError, parse_filter

FIELDS = {
    "id": FieldKind.ID,
    "type": FieldKind.TEXT,
    "global": FieldKind.FLAG,
    "keywords": FieldKind.TEXTS,
    "importance": FieldKind.NUMBER,
    "occurred_at": FieldKind.MOMENT,
    "metadata": FieldKind.JSON,
}
ROW: dict[str, Any] = {
    "type": "fact",
    "global": False,
    "keywords": ["tea", "green"],
    "importance": 0.5,
    "occurred_at": datetime(2026, 5, 4, 12, tzinfo=UTC),
    "metadata": {
        "page": 3,
        "far": 10**22,
        "near": 1e-300,
        "of": {"book": "Moby Dick", "read": True},
        "tags": ["a", 1],
        "note": None,
    },
}


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"type": "fact"},
        {"type": {"in": ["fact", "event"]}},
        {"importance": {"gte": 0.5, "lt": 0.6}},
        {"occurred_at": {"gt": "2026-05-04T13:59:59+02:00"}},
        {"keywords": {"contains": "tea"}},
        {"global": False},
        {"any": [{"type": "event"}, {"importance": {"gt": 0.4}}]},
        {"not": {"type": "event"}},
        {"all": []},
        {"not": {"any": []}},
        {"metadata.page": 3},
        {"metadata.page": 3.0},
        {"metadata.far": 1e22},
        {"metadata.far": 10**22, "metadata.near": {"lt": 10**23}},
        {"metadata.of.book": {"gt": "Moby"}},
        {"metadata.of.read": True},
        {"metadata.tags.1": 1},
        {"metadata.tags.-2": "a"},
        {"metadata.tags": {"contains": 1}},
        {"metadata.note": None},
        {"metadata.nothing.there": {"exists": False}},
        {"not": {"metadata.page": {"gt": "2"}}},
    ],
    ids=str,
)
def test_row_passes(asked: dict[str, Any]) -> None:
    assert matches(parse_filter(asked, FIELDS), ROW)


@pytest.mark.parametrize(
    "asked",
    [
        {"type": "event"},
        {"type": {"in": []}},
        {"any": []},
        {"not": {}},
        {"importance": {"gt": 0.5}},
        {"keywords": {"contains": "te"}},
        {"metadata.page": "3"},
        {"metadata.of.read": 1},
        {"metadata.tags": {"contains": True}},
        {"metadata.of": {"exists": False}},
        {"metadata.tags.2": {"exists": True}},
        {"type": None},
    ],
    ids=str,
)
def test_row_does_not_pass(asked: dict[str, Any]) -> None:
    assert not matches(parse_filter(asked, FIELDS), ROW)


@pytest.mark.parametrize(
    ("asked", "place"),
    [
        ([], "filter"),
        ({"color": 1}, "filter.color"),
        ({"type.x": 1}, "filter.type.x"),
        ({"metadata": 1}, "filter.metadata"),
        ({"metadata.": 1}, "filter.metadata."),
        ({"type": {}}, "filter.type"),
        ({"type": {"gt": "a"}}, "filter.type"),
        ({"type": {"$where": "1"}}, "filter.type"),
        ({"type": 1}, "filter.type"),
        ({"type": "a\x00"}, "filter.type"),
        ({"type": {"in": "fact"}}, "filter.type"),
        ({"importance": True}, "filter.importance"),
        ({"importance": 10**400}, "filter.importance"),
        ({"importance": 2**53 + 1}, "filter.importance"),
        ({"importance": float("nan")}, "filter.importance"),
        ({"occurred_at": {"gt": "2026-05-04T12:00:00"}}, "filter.occurred_at"),
        ({"occurred_at": {"gt": "9999-12-31T23:59:59-23:00"}}, "filter.occurred_at"),
        ({"id": "1; DROP TABLE"}, "filter.id"),
        ({"metadata.page": {"gt": True}}, "filter.metadata.page"),
        ({"metadata.page": [1]}, "filter.metadata.page"),
        ({"all": {"type": "fact"}}, "filter.all"),
        ({"all": [{"any": [{"color": 1}]}]}, "filter.all.0.any.0.color"),
        ({"any": [{"type": "a"}] * (MAX_COMPARISONS + 1)}, "filter.any"),
        ({"a\ud800": 1}, "filter.a?"),
    ],
    ids=lambda one: str(one)[:40].encode("ascii", "replace").decode(),
)
def test_what_cannot_be_read_is_refused_with_its_place(asked: Any, place: str) -> None:
    with pytest.raises(FilterError) as refused:
        parse_filter(asked, FIELDS)
    assert (refused.value.attr, refused.value.code) == (place, "invalid_filter")


def test_depth_is_limited() -> None:
    asked: dict[str, Any] = {"type": "fact"}
    for _ in range(MAX_DEPTH + 500):
        asked = {"not": asked}
    with pytest.raises(FilterError, match="Nested too deeply"):
        parse_filter(asked, FIELDS)


def test_an_empty_filter_asks_for_everything() -> None:
    assert parse_filter({}, FIELDS) is EVERYTHING
