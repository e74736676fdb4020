"""The list of events over REST: page by page, the newest first, from rows and files alike."""

import json
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest

from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock, utcnow
from apps.core.domain.scope import Permission, Scope
from apps.episodic.models import TimelineEvent
from tests.api import Api, api_for, error_attrs
from tests.integration.episodic.timeline import Timeline, draft

pytestmark = pytest.mark.django_db

EVENTS = "/api/episodic/events"
NOWHERE = "00000000-0000-4000-8000-000000000000"
HOUR = timedelta(hours=1)
NOW = utcnow(SYSTEM_CLOCK) - HOUR


@pytest.fixture
def timeline() -> Timeline:
    """Thirty events of ana's in two files and rows, three at each moment, and some of ben's at the same ones."""
    timeline = Timeline(DeterministicClock(SYSTEM_CLOCK.now()))
    for part in range(3):
        for number in range(part, 30, 3):
            moment, kind = NOW - (number // 3) * HOUR, ("visit", "letter", "message")[number % 3]
            own = draft(f"event {number}", timestamp=moment, event_type=kind, metadata={"number": number})
            timeline.record(own, draft(f"of ben {number}", timestamp=moment, scope=Scope("ben")))
        if part < 2:
            timeline.archive()
    return timeline


@pytest.fixture
def api(timeline: Timeline) -> Api:
    return api_for(Scope(user_id="ana"), Permission.READ)


def ask(api: Api, query: str = "") -> dict[str, Any]:
    response = api.get(f"{EVENTS}{query}")
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def follow(api: Api, address: str) -> dict[str, Any]:
    return ask(api, address.partition(EVENTS)[2])


def expected(timeline: Timeline, user: str = "ana") -> list[str]:
    own = [event for event in timeline.model if event.key.user_id == user]
    return [str(event.uuid) for event in sorted(own, key=lambda event: event.order, reverse=True)]


def ids(page: dict[str, Any]) -> list[str]:
    return [event["id"] for event in page["results"]]


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 7, 29, 30, 31])
def test_pages_lead_to_end_and_back_without_loss(api: Api, timeline: Timeline, limit: int) -> None:
    page = ask(api, f"?limit={limit}")
    there = ids(page)
    assert page["previous"] is None
    while page["next"]:
        page = follow(api, page["next"])
        there += ids(page)
    back = ids(page)
    while page["previous"]:
        page = follow(api, page["previous"])
        back = ids(page) + back
    assert there == back == expected(timeline)


def test_page_stays_correct_while_events_arrive_and_are_archived(api: Api, timeline: Timeline) -> None:
    before, page = expected(timeline), ask(api, "?limit=7")
    seen = ids(page)
    while page["next"]:
        timeline.record(draft(f"new {len(seen)}", timestamp=NOW + timedelta(seconds=len(seen))))
        timeline.archive()
        timeline.merge()
        page = follow(api, page["next"])
        seen += ids(page)
    assert seen == before


def test_cursor_names_an_event_of_its_own_page_and_no_arrival(api: Api, timeline: Timeline) -> None:
    page = ask(api, "?limit=2")
    cursor = page["next"].partition("cursor=")[2].partition("&")[0]
    assert cursor.startswith(f"older-{page['results'][-1]['id']}_")
    moment = round(NOW.timestamp() * 1_000_000)
    assert abs(int(cursor.partition("_")[2]) - moment) < 2


@pytest.mark.parametrize("value", ["", "_0", "_-1", "_0.5", "_e", f"_{'9' * 18}", f"_-{'9' * 30}"])
def test_cursor_that_names_no_event_is_not_found(api: Api, value: str) -> None:
    for direction in ("older", "newer"):
        answer = api.get(f"{EVENTS}?cursor={direction}-{NOWHERE}{value}")
        assert (answer.status_code, error_attrs(answer)) == (404, ["cursor"])


def test_cursor_of_another_user_answers_like_one_of_nothing(api: Api, timeline: Timeline) -> None:
    foreign = ask(api_for(Scope(user_id="ben")), "?limit=1")["next"].partition("cursor=")[2].partition("&")[0]
    moment = foreign.partition("_")[2]
    for direction in ("older", "newer"):
        there = api.get(f"{EVENTS}?cursor={foreign.replace('older', direction)}")
        nothing = api.get(f"{EVENTS}?cursor={direction}-{NOWHERE}_{moment}")
        assert (there.status_code, there.content) == (404, nothing.content)


def test_page_after_removed_event_is_not_found(api: Api, timeline: Timeline) -> None:
    timeline.record(last := draft("last", timestamp=NOW + HOUR / 2))
    page = ask(api, "?limit=1")
    assert page["results"][0]["content"] == last.content
    TimelineEvent.objects.filter(uuid=page["results"][0]["id"]).delete()
    assert api.get(page["next"].removeprefix("http://testserver")).status_code == 404


def test_window_types_and_filters_narrow_the_list_and_its_total(api: Api, timeline: Timeline) -> None:
    start, end = quote((NOW - 3 * HOUR).isoformat()), quote((NOW - HOUR).isoformat())
    page = ask(api, f"?from={start}&to={end}&event_types=visit,letter&count=true&limit=4")
    assert (page["total"], len(page["results"])) == (6, 4)
    assert {event["event_type"] for event in page["results"]} == {"visit", "letter"}
    assert len(follow(api, page["next"])["results"]) == 2
    asked = quote(json.dumps({"metadata.number": {"in": [0, 7, 29]}}))
    page = ask(api, f"?filter={asked}&count=true&limit=2")
    assert (page["total"], [event["metadata"]["number"] for event in page["results"]]) == (3, [0, 7])
    page = follow(api, page["next"])
    assert [event["metadata"]["number"] for event in page["results"]] == [29]
    assert [event["metadata"]["number"] for event in follow(api, page["previous"])["results"]] == [0, 7]
    days = (utcnow(SYSTEM_CLOCK) - (NOW - 1.5 * HOUR)) / timedelta(days=1)
    assert ask(api, f"?last_days={days}&count=true")["total"] == 6


def test_totals_are_those_of_the_key(api: Api, timeline: Timeline) -> None:
    assert ask(api, "?count=true&limit=1")["total"] == 30
    assert ask(api, "?count=true&user_id=ben") == {"next": None, "previous": None, "total": 0, "results": []}
    assert ask(api_for(Scope()), "?count=true&limit=1")["total"] == 60


@pytest.mark.parametrize(
    ("query", "attr"),
    [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("cursor=7", "cursor"),
        ("from=2026-03-01", "from"),
        ("from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z", "from"),
        ("last_days=1&to=2026-03-01T00:00:00Z", "last_days"),
        ("last_days=nan", "last_days"),
        ("last_days=-1", "last_days"),
        ("event_types=a visit", "event_types"),
        (f"event_types={','.join(['visit'] * 51)}", "event_types"),
        ("event_types=visit,", "event_types"),
        ("filter=7", "filter"),
        ("filter={%22content%22:%221%22}", "filter.content"),
        ("query=tea", "query"),
    ],
)
def test_bad_input_names_the_field(api: Api, query: str, attr: str) -> None:
    answer = api.get(f"{EVENTS}?{query.replace(' ', '%20')}")
    assert (answer.status_code, error_attrs(answer)) == (400, [attr])
