"""Events keep the offset in which their writer said when they happened, wherever they are kept."""

import json
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from apps.core.domain.clock import DeterministicClock
from apps.core.domain.scope import Access, Permission, Scope
from apps.core.domain.zones import find_zone, start_of
from apps.episodic.domain.event import EventRecord
from apps.episodic.models import TimelineEvent
from apps.episodic.queries.event_list import event_get
from tests.api import api_for, error_attrs
from tests.integration.episodic.test_timeline_tools import ask
from tests.integration.episodic.timeline import SYSTEM, Timeline, draft

pytestmark = pytest.mark.django_db

EVENTS = "/api/episodic/events"
SUNDAY = datetime(2026, 3, 1, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
WRITTEN = "2026-03-01T23:30:00-05:00"


def as_said(event: EventRecord) -> str:
    return event.timestamp.isoformat()


def test_row_keeps_the_offset_beside_the_instant() -> None:
    timeline = Timeline()
    [event] = timeline.record(draft("dinner", timestamp=SUNDAY))

    row = TimelineEvent.objects.get(uuid=event.uuid)
    with connection.cursor() as cursor:
        cursor.execute("SELECT timestamp, timestamp_offset FROM episodic_timelineevent")
        assert cursor.fetchall() == [(SUNDAY.astimezone(UTC), -300)]
    assert {as_said(one) for one in (event, row.record, event_get(SYSTEM, event.uuid))} == {WRITTEN}


def test_offset_outlives_archiving_and_merging() -> None:
    timeline = Timeline()
    for number in range(2):
        timeline.record(draft(f"dinner {number}", timestamp=SUNDAY + timedelta(minutes=number)))
        timeline.archive()
    timeline.merge()

    found = timeline.query(scope=Scope("ana")).events
    assert [event.timestamp.utcoffset() for event in found] == [timedelta(hours=-5)] * 2
    assert not TimelineEvent.objects.exists()


def test_row_of_before_the_offset_was_kept_is_in_utc() -> None:
    timeline = Timeline()
    [event] = timeline.record(draft("dinner", timestamp=SUNDAY))
    TimelineEvent.objects.update(timestamp_offset=0)

    assert as_said(event_get(SYSTEM, event.uuid)) == "2026-03-02T04:30:00+00:00"


def test_same_instant_in_another_offset_is_the_same_event() -> None:
    timeline = Timeline()
    timeline.record(draft("dinner", timestamp=SUNDAY))

    assert timeline.record(draft("dinner", timestamp=SUNDAY.astimezone(UTC))) == []
    assert as_said(TimelineEvent.objects.get().record) == WRITTEN


@pytest.mark.parametrize("is_archived", [False, True])
def test_export_says_the_offset(tmp_path: Path, is_archived: bool) -> None:
    timeline = Timeline()
    timeline.record(draft("dinner", timestamp=SUNDAY))
    if is_archived:
        timeline.archive()

    call_command("timeline", "export", str(tmp_path / "events.ndjson"))

    [line] = (tmp_path / "events.ndjson").read_text().splitlines()
    assert json.loads(line)["timestamp"] == WRITTEN


def test_api_answers_with_the_offset_and_finds_the_writers_day() -> None:
    api = api_for(Scope("ana"))
    body = {"timestamp": WRITTEN, "event_type": "visit", "content": "dinner"}

    recorded = api.post(EVENTS, body).json()["event"]
    listed = api.get(EVENTS).json()["results"]
    asked = {"mode": "keyword", "from": "2026-03-02T04:30:00Z", "to": "2026-03-02T04:30:00Z"}
    found = {day: api.post("/api/episodic/query", {"query": day, **asked}).json() for day in ("sunday", "monday")}

    assert [one["timestamp"] for one in (recorded, *listed, *found["sunday"]["results"])] == [WRITTEN] * 3
    assert found["monday"]["count"] == 0


def test_query_has_the_days_of_its_time_zone() -> None:
    api = api_for(Scope("ana"))
    for content, moment in (("dinner", WRITTEN), ("breakfast", "2026-03-02T13:00:00Z")):
        assert api.post(EVENTS, {"timestamp": moment, "event_type": "visit", "content": content}).status_code == 201

    def found(zone: str | None, **fields: object) -> list[str]:
        answer = api.post("/api/episodic/query", {"timezone": zone, **fields}).json()
        return sorted(one["content"] for one in answer["results"])

    words = {"query": "monday", "mode": "keyword"}
    assert found(None, **words) == found("America/New_York", **words) == ["breakfast"]
    assert found("Europe/Berlin", **words) == ["breakfast", "dinner"]
    assert found("America/New_York", **{"from": "2026-03-02", "to": "2026-03-02"}) == ["breakfast"]
    assert found("Europe/Berlin", time_window={"from": "2026-03-02", "to": "2026-03-02"}) == ["breakfast", "dinner"]
    listed = api.get(f"{EVENTS}?timezone=America/New_York&from=2026-03-01&to=2026-03-01").json()["results"]
    assert [one["content"] for one in listed] == ["dinner"]


@pytest.mark.parametrize(("day", "hours"), [("2025-03-30", 23), ("2025-10-26", 25)])
def test_day_on_which_the_clocks_change_is_whole(day: str, hours: int) -> None:
    api, timeline = api_for(Scope("ana")), Timeline()
    zone = find_zone("Europe/Berlin")
    first = start_of(date.fromisoformat(day), zone)
    timeline.record(*[draft(f"{hour}", timestamp=first + timedelta(hours=hour)) for hour in range(-2, 28)])

    counted = api.get(f"{EVENTS}?timezone=Europe/Berlin&from={day}&to={day}&count=true").json()

    assert counted["total"] == hours
    assert {one["content"] for one in counted["results"]} == {f"{hour}" for hour in range(hours)}


@pytest.mark.parametrize(("now", "hours"), [("2026-03-29T10:00:00Z", 23), ("2026-10-25T10:00:00Z", 25)])
def test_last_day_goes_back_to_the_same_time_on_the_clock(now: str, hours: int) -> None:
    moment = datetime.fromisoformat(now)
    timeline = Timeline(DeterministicClock(round(moment.timestamp() * 1000)))
    timeline.record(*[draft(f"{ago}", timestamp=moment - timedelta(hours=ago)) for ago in range(30)])

    found = timeline.query(last_days=1, zone=find_zone("Europe/Berlin")).events

    assert [event.content for event in found] == [f"{ago}" for ago in range(hours + 1)]
    assert len(timeline.query(last_days=1).events) == 25


def test_time_zone_that_is_none_is_refused_by_name() -> None:
    api = api_for(Scope("ana"))
    refused = [api.get(f"{EVENTS}?timezone=Berlin"), api.post("/api/episodic/query", {"timezone": "Berlin"})]
    assert [(one.status_code, error_attrs(one)) for one in refused] == [(400, ["timezone"])] * 2
    assert error_attrs(api.get(f"{EVENTS}?from=2026-03-02")) == ["from"]


def test_tool_has_the_time_zone_too() -> None:
    ana = Access(Scope("ana"), Permission.WRITE, "test")
    assert ask(ana, "event_query", timezone="Europe/Berlin", **{"from": "2026-03-02"}).outcome == "done"
    assert ask(ana, "event_query", timezone="Berlin").problems[0].attr == "timezone"
