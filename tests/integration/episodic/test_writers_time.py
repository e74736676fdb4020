"""Events keep the offset in which their writer said when they happened, wherever they are kept."""

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from apps.core.domain.scope import Scope
from apps.episodic.domain.event import EventRecord
from apps.episodic.models import TimelineEvent
from apps.episodic.queries.lookup import event_get
from tests.api import api_for
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
