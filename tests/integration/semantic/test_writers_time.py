"""Memories keep the offset in which their writer said when something happened."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from apps.core.domain.scope import Access, Scope
from apps.core.domain.zones import find_zone
from apps.semantic.bridge.ingest import events_ingest
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.reembed import refresh_words
from apps.semantic.models import Memory
from apps.semantic.schemas.search import SearchInput, make_query
from apps.semantic.services import memory_save
from tests.api import MEMORIES, SEARCH, Api, contents, error_attrs
from tests.integration.semantic.bridge_support import policy, saved, tell
from tests.integration.semantic.test_tools import ask

pytestmark = pytest.mark.django_db

SUNDAY = datetime(2026, 3, 1, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
WRITTEN = "2026-03-01T23:30:00-05:00"
BERLIN = find_zone("Europe/Berlin")
HOUR = timedelta(hours=1)


def found_by(api: Api, words: str) -> list[str]:
    return [one["memory"]["occurred_at"] for one in api.search(words, mode="keyword")["results"]]


def test_row_keeps_the_offset_beside_the_instant(access: Access) -> None:
    memory = memory_save(access=access, draft=MemoryDraft("Dinner", scope=Scope("ana"), occurred_at=SUNDAY)).memory

    stored = Memory.objects.get(pk=memory.pk)
    [(instant, offset)] = Memory.objects.values_list("occurred_at", "occurred_offset")
    assert (instant, offset) == (SUNDAY.astimezone(UTC), -300)
    assert {one.occurred_at.isoformat() for one in (memory, stored) if one.occurred_at} == {WRITTEN}


def test_late_evening_is_of_the_writers_day(api: Api) -> None:
    memory = api.save("Dinner with Ben", occurred_at=WRITTEN)

    assert memory["occurred_at"] == WRITTEN
    assert api.get(f"{MEMORIES}/{memory['id']}").json()["occurred_at"] == WRITTEN
    assert found_by(api, "sunday") == [WRITTEN]
    assert found_by(api, "2026-03-01") == [WRITTEN]
    assert found_by(api, "monday") == []


def test_change_of_the_offset_alone_is_a_change_of_the_day(api: Api) -> None:
    memory = api.save("Dinner with Ben", occurred_at="2026-03-02T04:30:00Z")
    assert found_by(api, "monday") == ["2026-03-02T04:30:00Z"]

    answer = api.patch(f"{MEMORIES}/{memory['id']}", {"occurred_at": WRITTEN}).json()

    assert (answer["action"], answer["memory"]["occurred_at"]) == ("updated", WRITTEN)
    assert (found_by(api, "sunday"), found_by(api, "monday")) == ([WRITTEN], [])
    changes = api.get(f"{MEMORIES}/{memory['id']}/history").json()["results"][-1]["changes"]
    assert changes == {"occurred_at": ["2026-03-02T04:30:00+00:00", WRITTEN]}
    assert api.patch(f"{MEMORIES}/{memory['id']}", {"occurred_at": WRITTEN}).json()["action"] == "skipped"


def test_words_that_are_made_again_are_of_the_same_day(api: Api) -> None:
    api.save("Dinner with Ben", occurred_at=WRITTEN)
    Memory.objects.update(lexemes=b"", lexemes_version=0)

    assert refresh_words() == 1
    assert found_by(api, "sunday") == [WRITTEN]


def test_row_of_before_the_offset_was_kept_is_in_utc(api: Api) -> None:
    memory = api.save("Dinner with Ben", occurred_at=WRITTEN)
    Memory.objects.update(occurred_offset=0)

    assert api.get(f"{MEMORIES}/{memory['id']}").json()["occurred_at"] == "2026-03-02T04:30:00Z"


def test_memory_of_an_event_is_of_the_same_day() -> None:
    policy()
    tell(saved("Ana promised to call the bank", timestamp=SUNDAY))
    events_ingest()

    memory = Memory.objects.get()
    assert memory.occurred_at is not None
    assert memory.occurred_at.isoformat() == WRITTEN


def test_search_has_the_days_of_its_time_zone(api: Api) -> None:
    api.save("Dinner with Ben", occurred_at=WRITTEN)
    api.save("Breakfast with Ben", occurred_at="2026-03-02T13:00:00Z")

    def found(zone: str | None, query: str = "ben", **fields: Any) -> set[str]:
        return {text.split()[0] for text in contents(api.search(query, mode="keyword", timezone=zone, **fields))}

    assert found(None, "sunday") == found("America/New_York", "sunday") == {"Dinner"}
    assert found("Europe/Berlin", "sunday") == set()
    assert found("Europe/Berlin", "monday") == {"Dinner", "Breakfast"}
    for zone, day in (("America/New_York", {"Breakfast"}), ("Europe/Berlin", {"Dinner", "Breakfast"})):
        assert found(zone, time_window={"from": "2026-03-02", "to": "2026-03-02"}) == day
    assert found("Asia/Tokyo", time_window={"to": "2026-03-02T13:30:00"}) == {"Dinner"}


def test_last_days_of_a_search_are_days_of_its_time_zone() -> None:
    data = SearchInput().run_validation({"query": "tea", "last_days": 3000, "timezone": "Europe/Berlin"})
    start, now = make_query(data).start, datetime.now(BERLIN)

    assert start is not None
    assert start.tzinfo is UTC
    assert abs(start.astimezone(BERLIN).replace(tzinfo=None) - (now - timedelta(days=3000)).replace(tzinfo=None)) < HOUR


@pytest.mark.parametrize("fields", [{"timezone": "Berlin"}, {"timezone": 1}, {"timezone": "../../etc/passwd"}])
def test_time_zone_that_is_none_is_refused_by_name(api: Api, fields: dict[str, Any]) -> None:
    refused = api.post(SEARCH, {"query": "tea", **fields})

    assert (refused.status_code, error_attrs(refused)) == (400, ["timezone"])


def test_date_without_a_time_zone_is_refused_by_name(api: Api) -> None:
    refused = api.post(SEARCH, {"query": "tea", "time_window": {"from": "2026-03-02"}})

    assert (refused.status_code, error_attrs(refused)) == (400, ["time_window.from"])
    assert "timezone" in refused.json()["errors"][0]["detail"]


def test_tool_has_the_time_zone_too(ana: Access) -> None:
    parameters = {"query": "ben", "timezone": "Europe/Berlin", "time_window": {"from": "2026-03-02"}}

    assert ask(ana, "memory_search", **parameters).outcome == "done"
    assert ask(ana, "memory_search", **{**parameters, "timezone": "Berlin"}).problems[0].attr == "timezone"
