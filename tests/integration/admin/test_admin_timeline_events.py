"""Recorded events in the admin: listed, found, shown."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client

from apps.episodic.admin import events as event_list
from apps.episodic.models import TimelineEvent
from tests.integration.admin import timeline
from tests.integration.admin.pages import address, text_of

pytestmark = pytest.mark.django_db

LIST = address(TimelineEvent, "changelist")


def listed(client: Client, **query: Any) -> list[str]:
    """The contents on the first page of the list, in order."""
    response = client.get(LIST, query)
    assert response.status_code == 200
    return [event.content for event in response.context["cl"].result_list]


def page_of(client: Client, event: TimelineEvent) -> str:
    return text_of(client, address(TimelineEvent, "change", event.pk))


def test_list_shows_what_happened_to_whom_and_when(operator: Client) -> None:
    timeline.event(household_id="home", persona_id="cook", importance=0.75, source="camera", event_type="door.opened")
    text = text_of(operator, LIST)
    for expected in (
        "Ana asked for tea",
        "door.opened",
        "ana",
        "home / cook",
        "camera",
        "importance 0.75",
        "2026-05-10",
    ):
        assert expected in text


def test_the_last_arrival_comes_first(operator: Client) -> None:
    timeline.event("first", timestamp=timeline.NOON + timedelta(days=1))
    timeline.event("second")
    assert listed(operator) == ["second", "first"]


def test_events_of_user_are_in_order_in_which_they_happened(operator: Client) -> None:
    timeline.event("later", timestamp=timeline.NOON + timedelta(days=1))
    timeline.event("earlier")
    timeline.event("of another user", user_id="ben")
    assert listed(operator, user_id="ana") == ["later", "earlier"]


def test_the_list_shows_late_recordings(operator: Client) -> None:
    timeline.event(recorded_at=timeline.NOON + timedelta(hours=20))
    assert "recorded 20 h later" in text_of(operator, LIST)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"user_id": "ana"}, {"ana", "both"}),
        ({"user_id": "an"}, set()),
        ({"user_id": " ana\x00"}, {"ana", "both"}),
        ({"household_id": "home"}, {"both"}),
        ({"persona_id": "cook"}, {"ben"}),
        ({"event_type": "door"}, {"ben"}),
        ({"source": "camera"}, {"both"}),
        ({"importance_from": "0.8"}, {"both"}),
        ({"importance_to": "0.8"}, {"ana", "ben"}),
        ({"timestamp_from_0": "2026-05-11", "timestamp_from_1": "00:00:00"}, {"ben"}),
        ({"timestamp_to_0": "2026-05-11", "timestamp_to_1": "00:00:00"}, {"ana", "both"}),
        ({"segment": "no such"}, set()),
        ({"importance_from": "much"}, {"ana", "ben", "both"}),
        ({"q": "ana"}, {"ana", "both"}),
        ({"q": "door"}, {"ben"}),
        ({"q": "doo"}, set()),
        ({"q": "\x00"}, {"ana", "ben", "both"}),
        ({"q": "ana", "event_type": "door"}, set()),
    ],
)
def test_the_list_is_filtered_and_searched(operator: Client, query: dict[str, str], found: set[str]) -> None:
    timeline.event("ana")
    timeline.event(
        "ben", user_id="ben", persona_id="cook", event_type="door", timestamp=timeline.NOON + timedelta(days=2)
    )
    timeline.event("both", household_id="home", source="camera", importance=0.9)
    assert set(listed(operator, **query)) == found


def test_an_event_is_found_by_its_id(operator: Client) -> None:
    wanted, _ = timeline.event("this"), timeline.event("that")
    assert listed(operator, q=str(wanted.uuid)) == ["this"]
    assert listed(operator, q=str(uuid4())) == []


def test_the_events_of_a_segment_are_listed(operator: Client) -> None:
    sealing = timeline.segment("sealing")
    timeline.event("in it", segment=sealing)
    timeline.event("in the open one")
    assert listed(operator, segment=str(sealing.uuid)) == ["in it"]


def test_events_that_are_read_from_file_are_not_listed_as_rows(operator: Client) -> None:
    timeline.event("a copy on its way out", segment=timeline.segment("archived", rows="leaving"))
    assert listed(operator) == []


def test_without_owner_only_latest_are_listed(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_list, "LATEST", 2)
    for number in range(4):
        timeline.event(f"{number}", event_type="rare" if number == 0 else "common")
    assert listed(operator) == ["3", "2"]
    assert listed(operator, event_type="rare") == listed(operator, q="rare") == []
    assert listed(operator, event_type="rare", user_id="ana") == ["0"]
    assert listed(operator, q="ana") == ["3", "2", "1", "0"]


def test_list_says_when_it_is_limited_to_latest(operator: Client) -> None:
    assert "The latest arrivals." in text_of(operator, LIST)
    assert "The latest arrivals." not in text_of(operator, LIST, user_id="ana")


def test_an_empty_list_says_how_events_come_to_be(operator: Client) -> None:
    assert "Events appear as applications record them." in text_of(operator, LIST)


@pytest.mark.parametrize("query", [{}, {"user_id": "ana"}, {"q": "ana"}, {"q": "rare"}, {"event_type": "rare"}])
def test_list_reads_no_more_of_table_than_index_shows(operator: Client, query: dict[str, str]) -> None:
    timeline.event()
    response = operator.get(LIST, query)
    rows = response.context["cl"].queryset[:50]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        assert "Seq Scan on episodic_timelineevent" not in rows.explain()


def test_page_takes_as_many_queries_for_more_rows(operator: Client, django_assert_max_num_queries: Any) -> None:
    for number in range(20):
        timeline.event(f"{number}")
    text_of(operator, LIST)
    with django_assert_max_num_queries(13):
        text_of(operator, LIST)


def test_the_page_of_an_event_shows_all_of_it(operator: Client) -> None:
    event = timeline.event("one\ntwo", metadata={"room": "kitchen"}, household_id="home")
    text = page_of(operator, event)
    for expected in ("one\ntwo", "kitchen", "home", str(event.uuid), str(event.identity), "Rows complete."):
        assert expected in text
    assert address(type(event.segment), "change", event.segment.pk) in text


@pytest.mark.parametrize("field", ["content", "user_id", "event_type", "source", "persona_id"])
def test_what_events_say_is_escaped(operator: Client, field: str) -> None:
    event = timeline.event(**{field: "<script>alert(1)</script>"})
    for text in (text_of(operator, LIST), page_of(operator, event)):
        assert "<script>alert(1)" not in text
        assert "&lt;script&gt;alert(1)" in text


def test_nobody_changes_or_deletes_event_by_hand(operator: Client) -> None:
    event = timeline.event()
    operator.post(address(TimelineEvent, "change", event.pk), {"content": "other"})
    operator.post(address(TimelineEvent, "delete", event.pk), {"post": "yes"})
    event.refresh_from_db()
    assert event.content == "Ana asked for tea"


def test_who_may_not_view_events_sees_none(staff: Callable[..., Client]) -> None:
    event = timeline.event()
    client = staff("view_segment")
    assert client.get(LIST).status_code == 403
    assert client.get(address(TimelineEvent, "change", event.pk)).status_code == 403
