"""Segments in the admin."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.selectors import timeline_health
from tests.integration.admin import timeline
from tests.integration.admin.pages import address, text_of

pytestmark = pytest.mark.django_db

LIST = address(Segment, "changelist")
STATES = ("open", "sealing", "sealed", "archived", "quarantined", "compacted", "pruned")


def listed(client: Client, **query: Any) -> list[str]:
    """The states on the first page of the list, in order."""
    response = client.get(LIST, query)
    assert response.status_code == 200
    return [segment.state for segment in response.context["cl"].result_list]


def page_of(client: Client, segment: Segment) -> str:
    return text_of(client, address(Segment, "change", segment.pk))


@pytest.fixture
def every_state() -> dict[str, Segment]:
    return {state: timeline.segment(state) for state in STATES}


def test_segments_that_hold_nothing_any_more_are_left_out(operator: Client, every_state: dict[str, Segment]) -> None:
    assert set(listed(operator)) == set(STATES) - {"compacted", "pruned"}


def test_segments_are_filtered_by_state(operator: Client, every_state: dict[str, Segment]) -> None:
    assert set(listed(operator, state="all")) == set(STATES)
    for state in STATES:
        assert listed(operator, state=state) == [state]


def test_open_segment_comes_first_and_then_newest(operator: Client) -> None:
    timeline.segment("sealed", closed_at=timeline.NOON - timedelta(days=2))
    timeline.segment()
    timeline.segment("archived", closed_at=timeline.NOON - timedelta(days=1))
    assert listed(operator) == ["open", "archived", "sealed"]


def test_the_list_says_how_many_events_each_holds(operator: Client) -> None:
    timeline.event("one", segment=timeline.segment("sealing"))
    for number in range(2):
        timeline.event(f"{number}")
    timeline.segment("archived", event_count=49_210, rows="gone")
    segments = {one.state: one for one in operator.get(LIST).context["cl"].result_list}
    text = text_of(operator, LIST)
    assert (segments["sealing"].held_rows.events, segments["open"].held_rows.events) == (1, 2)
    for expected in ("49,210", "rows gone", "rows complete"):
        assert expected in text


def test_the_list_shows_size_and_damage_of_files(operator: Client) -> None:
    timeline.segment("archived", size_bytes=3 * 1024**2, event_count=50_000)
    timeline.segment("quarantined", damage="checksum: block 17")
    text = text_of(operator, LIST)
    for expected in ("3.0 MB", "63 bytes per event", "checksum: block 17", "sound"):
        assert expected in text


def test_segment_is_found_by_its_id_and_by_name_of_its_file(operator: Client) -> None:
    segment = timeline.segment("archived")
    timeline.segment("sealed")
    assert listed(operator, q=str(segment.uuid)) == ["archived"]
    assert listed(operator, q=segment.file_name[:30]) == ["archived"]
    assert listed(operator, q="no such") == []


def test_empty_list_says_what_opens_first_segment(operator: Client) -> None:
    assert "The first recorded event opens the first segment." in text_of(operator, LIST)


def test_page_takes_as_many_queries_for_more_rows(operator: Client, django_assert_max_num_queries: Any) -> None:
    for _ in range(20):
        timeline.event(segment=timeline.segment("sealing"))
    text_of(operator, LIST)
    with django_assert_max_num_queries(13):
        text_of(operator, LIST)


def test_the_page_of_a_segment_shows_all_of_it(operator: Client) -> None:
    segment = timeline.segment("quarantined", damage="truncated", lost_count=1_200)
    text = page_of(operator, segment)
    for expected in (
        str(segment.uuid), segment.file_name, segment.sha256, "truncated", "1,200", "50 bytes per event",
        "2026-05-09 12:00:00 UTC to 2026-05-10 12:00:00 UTC", "its file cannot be read",
    ):  # fmt: skip
        assert expected in text


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_explained(operator: Client, every_state: dict[str, Segment], state: str) -> None:
    page_of(operator, every_state[state])


def test_page_of_segment_leads_to_its_events_while_they_are_rows(operator: Client) -> None:
    event = timeline.event()
    link = f"{address(TimelineEvent, 'changelist')}?segment={event.segment.uuid}"
    assert link in page_of(operator, event.segment)


def test_merged_segment_and_what_it_replaces_lead_to_each_other(operator: Client) -> None:
    merged = timeline.segment("archived", rows="gone")
    parts = [timeline.segment("compacted", rows="gone", replaced_by=merged) for _ in range(2)]
    assert address(Segment, "change", merged.pk) in page_of(operator, parts[0])
    for part in parts:
        assert address(Segment, "change", part.pk) in page_of(operator, merged)


def test_the_list_shows_the_time_and_size_of_the_open_segment(operator: Client) -> None:
    timeline.event("first", recorded_at=timeline.NOON)
    timeline.event("last", timestamp=timeline.NOON + timedelta(hours=3), recorded_at=timeline.NOON + timedelta(hours=3))
    text = text_of(operator, LIST)
    for expected in ("2026-05-10 12:00:00", "to 2026-05-10 15:00:00", "as rows"):
        assert expected in text
    page = page_of(operator, Segment.objects.get())
    span = "2026-05-10 12:00:00 UTC to 2026-05-10 15:00:00 UTC"
    for expected in (span, "bytes as rows", "or when it has 50,000 events"):
        assert expected in page


def test_the_list_says_how_the_timeline_is(operator: Client) -> None:
    assert "All segments are fine. There is no open segment" in text_of(operator, LIST)
    segment = timeline.segment(opened_at=timeline.NOON)
    assert "The open segment has been empty since 2026-05-10 12:00 UTC." in text_of(operator, LIST)
    now = timezone.now()
    for number in range(2):
        timeline.event(f"{number}", recorded_at=now + timedelta(minutes=number), segment=segment)
    sentence = timeline_health().sentence
    hours = timedelta(hours=settings.MEMORYHUB.timeline.rotate_hours)
    assert re.search(rf"has 2 events \(\d+ bytes\) since {now:%Y-%m-%d %H:%M} UTC", sentence)
    assert f"sealed at {now + hours:%Y-%m-%d %H:%M} UTC, or when it has 50,000 events." in sentence
    TimelineEvent.objects.update(recorded_at=timeline.NOON)
    assert (
        "it will be sealed by the next maintenance, which has been due since 2026-05-11" in timeline_health().sentence
    )


def test_what_is_damaged_is_said_first(operator: Client) -> None:
    for _ in range(2):
        timeline.segment("quarantined", event_count=400, rows="gone")
    timeline.warning("segment_damaged")
    text = text_of(operator, LIST)
    assert "2 segments are damaged: their 800 events cannot be read and 1 warning is active." in text
    assert f"{LIST}?state=quarantined" in text
    assert timeline_health().tone == "bad"


@pytest.mark.parametrize("model", ["segment", "retentionpolicy", "timelinewarning", "timelineevent"])
def test_lists_are_tabs_of_the_timeline(operator: Client, model: str) -> None:
    text = text_of(operator, reverse(f"admin:episodic_{model}_changelist"))
    assert f'href="{reverse(f"admin:episodic_{model}_changelist")}" aria-current="page"' in text
    assert "All segments are fine." in text


def test_routing_is_a_tab_of_the_timeline(operator: Client) -> None:
    text = text_of(operator, reverse("admin:semantic_routingpolicy_changelist"))
    assert f'href="{reverse("admin:semantic_routingpolicy_changelist")}" aria-current="page"' in text
    assert "All segments are fine." in text


def test_tabs_are_those_the_viewer_may_see(staff: Callable[..., Client]) -> None:
    text = text_of(staff("view_timelinewarning"), reverse("admin:episodic_timelinewarning_changelist"))
    nav = text.split('aria-label="Timeline">')[1].split("</nav>")[0]
    assert nav.count("<a ") == 1
    assert "All segments are fine." not in text
