"""Queries and lists of events that include what was granted (DESIGN D14)."""

from typing import Any

import pytest

from apps.core.domain.scope import Access, Permission, Scope
from apps.episodic.tools import query_events
from tests.api import Api, api_for, error_attrs
from tests.integration.episodic.timeline import Timeline, draft

pytestmark = pytest.mark.django_db

EVENTS, QUERY = "/api/episodic/events", "/api/episodic/query"
TEAM = "team:platform"


@pytest.fixture
def timeline(timeline_dir: Any) -> Timeline:
    """Events of Ana, of Ben and of a team, archived and not, which come one after another in time."""
    timeline = Timeline()
    owners = (Scope("ana", "home"), Scope("ana", "away"), Scope("ben", "home"), Scope(TEAM, None, "bot"))
    for place in ("file", "row"):
        timeline.record(*(draft(f"{place} {scope.user_id} {scope.household_id}", scope=scope) for scope in owners))
        if place == "file":
            timeline.archive()
    return timeline


@pytest.fixture
def reader() -> Api:
    return api_for(Scope("ana"), reads=[TEAM])


def contents(answer: dict[str, Any]) -> set[str]:
    return {event["content"] for event in answer["results"]}


OF_TEAM = {"file team:platform None", "row team:platform None"}
OF_HOME = {"file ana home", "row ana home"}
OF_ANA = OF_HOME | {"file ana away", "row ana away"}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, OF_ANA),
        ({"include": [TEAM]}, OF_ANA | OF_TEAM),
        ({"include": [TEAM, "ben", "nobody"]}, OF_ANA | OF_TEAM),
        ({"include": [TEAM], "household_id": "home"}, OF_HOME | OF_TEAM),
        ({"include": [TEAM], "user_id": "ben"}, OF_TEAM),
        ({"include": ["ben"]}, OF_ANA),
        ({"include": [TEAM], "filter": {"user_id": TEAM}}, OF_TEAM),
    ],
)
def test_query_and_list_hold_ones_own_and_what_is_included(
    timeline: Timeline, reader: Api, asked: dict[str, Any], expected: set[str]
) -> None:
    answer = reader.post(QUERY, asked).json()
    diagnostics = answer["diagnostics"]
    assert contents(answer) == expected
    assert diagnostics["considered_count"] == diagnostics["matched_count"] + diagnostics["filtered_count"]
    assert diagnostics["considered_count"] == diagnostics["hot"] + diagnostics["archived"]
    if "filter" not in asked:
        terms = "&".join(f"{k}={','.join(v) if isinstance(v, list) else v}" for k, v in asked.items())
        page = reader.get(f"{EVENTS}?count=true&{terms}").json()
        assert contents(page) == expected
        assert page["total"] == diagnostics["considered_count"] == len(expected)


def test_text_is_ranked_over_all_of_them(timeline: Timeline, reader: Api) -> None:
    answer = reader.post(QUERY, {"query": "file platform", "include": [TEAM], "explain": True}).json()
    assert answer["results"][0]["content"] == "file team:platform None"
    assert answer["results"][0]["user_id"] == TEAM
    assert answer["count"] == answer["diagnostics"]["considered_count"] == 6
    alone = api_for(Scope()).post(QUERY, {"query": "file platform", "explain": True, "user_id": "nobody"})
    assert alone.json()["count"] == 0


def test_pages_hold_each_event_once_and_their_cursors_need_the_include(timeline: Timeline, reader: Api) -> None:
    address, seen = f"{EVENTS}?include={TEAM}&limit=1", []
    while address:
        page = reader.get(address).json()
        seen += page["results"]
        address = page["next"]
    assert len(seen) == len({event["id"] for event in seen}) == 6
    [event] = [event for event in timeline.model if event.content == "file team:platform None"]
    cursor = f"older-{event.uuid}_{round(event.timestamp.timestamp() * 1_000_000)}"
    assert reader.get(f"{EVENTS}?cursor={cursor}&include={TEAM}").status_code == 200
    assert reader.get(f"{EVENTS}?cursor={cursor}").status_code == 404
    assert reader.get(f"{EVENTS}?cursor={cursor}&include=ben").status_code == 404


def test_event_in_a_file_is_read_by_id_and_not_removed(timeline: Timeline, reader: Api) -> None:
    for event in timeline.model:
        status = 200 if event.key.user_id in ("ana", TEAM) else 404
        assert reader.get(f"{EVENTS}/{event.uuid}").status_code == status
        if event.key.user_id != "ana":
            assert reader.delete(f"{EVENTS}/{event.uuid}").status_code == 404


def test_owner_who_is_not_granted_answers_like_one_who_does_not_exist(timeline: Timeline, reader: Api) -> None:
    def asked(name: str) -> dict[str, Any]:
        answer: dict[str, Any] = reader.post(QUERY, {"query": "file", "include": [name, TEAM]}).json()
        answer["diagnostics"].pop("took_ms")
        return answer

    assert asked("ben") == asked("nobody")
    assert reader.get(f"{EVENTS}?include=ben").json() == reader.get(f"{EVENTS}?include=nobody").json()


def test_a_model_may_include_as_rest_may(timeline: Timeline) -> None:
    for reads, count in ((), 4), ((TEAM,), 6):
        access = Access(Scope("ana"), Permission.READ, "key:ana", reads)
        assert query_events(access, {"include": [TEAM]})["count"] == count


def test_include_is_checked(reader: Api) -> None:
    for include in ([""], "x", [f"x{n}" for n in range(51)]):
        response = reader.post(QUERY, {"include": include})
        assert (response.status_code, error_attrs(response)[0].partition(".")[0]) == (400, "include")
