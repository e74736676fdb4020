"""Warnings of the timeline in the admin."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.episodic.domain.alarms import HINTS, WarningKind
from apps.episodic.models import Segment, TimelineWarning
from tests.integration.admin import timeline
from tests.integration.admin.pages import address, text_of

pytestmark = pytest.mark.django_db

LIST = address(TimelineWarning, "changelist")
LATER = timeline.NOON + timedelta(hours=3)


def listed(client: Client, **query: Any) -> list[str]:
    """The kinds on the first page of the list, in order."""
    response = client.get(LIST, query)
    assert response.status_code == 200
    return [warning.kind for warning in response.context["cl"].result_list]


def page_of(client: Client, warning: TimelineWarning) -> str:
    return text_of(client, address(TimelineWarning, "change", warning.pk))


def test_active_warnings_come_first_and_worst_of_them(operator: Client) -> None:
    timeline.warning("maintenance_failed", severity="critical", ended_at=LATER)
    timeline.warning("capacity", severity="notice", began_at=LATER)
    timeline.warning("disk_nearly_full", severity="warning")
    timeline.warning("segment_damaged", severity="critical")
    assert listed(operator) == ["segment_damaged", "disk_nearly_full", "capacity", "maintenance_failed"]


def test_warnings_are_filtered_by_whether_they_are_over(operator: Client) -> None:
    timeline.warning("capacity")
    timeline.warning("write_latency", ended_at=LATER)
    assert listed(operator, state="active") == ["capacity"]
    assert listed(operator, state="over") == ["write_latency"]
    assert listed(operator, state="no such") == ["capacity", "write_latency"]


@pytest.mark.parametrize("kind", list(WarningKind))
def test_an_active_warning_says_what_to_do(operator: Client, kind: WarningKind) -> None:
    warning = timeline.warning(kind)
    hint = HINTS[kind].split("`")[0].split("'")[0]
    assert hint in text_of(operator, LIST)
    assert hint in page_of(operator, warning)


def test_warning_that_is_over_says_how_long_it_lasted(operator: Client) -> None:
    warning = timeline.warning(ended_at=LATER)
    for text in (text_of(operator, LIST), page_of(operator, warning)):
        assert "after 3 h" in text
        assert "Nothing: it has ended." in text


@pytest.mark.parametrize(
    ("severity", "consequence"),
    [("notice", "None yet."), ("warning", "they become memories once the warning has ended")],
)
def test_warning_says_whether_memories_wait_for_its_end(operator: Client, severity: str, consequence: str) -> None:
    assert consequence in page_of(operator, timeline.warning(severity=severity))


def test_a_warning_about_a_segment_leads_to_it(operator: Client) -> None:
    segment = timeline.segment("quarantined")
    warning = timeline.warning("segment_damaged", segment=segment)
    assert address(Segment, "change", segment.pk) in page_of(operator, warning)


def test_empty_list_says_that_there_was_no_warning(operator: Client) -> None:
    assert "There has been no warning yet." in text_of(operator, LIST)


def test_active_warnings_are_marked_in_navigation(operator: Client) -> None:
    def marked() -> dict[str, Any]:
        groups = operator.get(reverse("admin:index")).context["sidebar_navigation"]
        items = [item for group in groups for item in group["items"] if "badge" in item]
        return {item["title"]: item["badge"] for item in items if item["title"] != "Now"}

    timeline.warning("write_latency", ended_at=LATER)
    assert marked() == {}
    timeline.warning("capacity")
    timeline.warning("disk_nearly_full")
    assert marked() == {"Warnings": 2}
