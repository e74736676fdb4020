"""The timeline's part of the admin's first page."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.core.admin.kit import filesize
from apps.episodic.models import RetentionPolicy
from tests.integration.admin import timeline
from tests.integration.admin.pages import text_of
from tests.integration.episodic.upkeep import an_archived_segment

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("timeline_dir")]

INDEX = reverse("admin:index")


def tiles(client: Client) -> dict[str, tuple[str, str, str]]:
    context: Any = client.get(INDEX).context
    return {tile.label: (tile.value, tile.note, tile.tone) for tile in context["tiles"] if "Timeline" in tile.label}


def facts(client: Client) -> dict[str, str]:
    return dict(client.get(INDEX).context["timeline"])


def test_a_timeline_without_events_is_well(operator: Client) -> None:
    assert tiles(operator) == {
        "Timeline events": ("0", "0 of them archived", ""),
        "Timeline warnings": ("0", "none active", "good"),
    }
    assert facts(operator)["Segments"] == "none yet"


def test_rows_and_archived_events_are_counted(operator: Client) -> None:
    archived = an_archived_segment(range(4))
    timeline.segment("compacted", event_count=400, rows="gone")
    timeline.event()
    assert tiles(operator)["Timeline events"] == ("5", "4 of them archived", "")
    assert facts(operator) == {
        "Segments": "1 open, 1 archived",
        "Events as rows": "1",
        "Events in archived files": "4",
        "Size of these files": filesize(archived.size_bytes),
        "Retention": "off",
        "Recorded in the last 7 days": "0",
    }


def test_events_that_cannot_be_read_are_pointed_out(operator: Client) -> None:
    timeline.segment("quarantined", event_count=400, rows="gone")
    assert tiles(operator)["Timeline events"] == ("0", "400 more cannot be read", "bad")
    assert facts(operator)["Segments"] == "1 damaged"


@pytest.mark.parametrize(
    ("severity", "tile"),
    [
        ("notice", ("1", "to be reviewed", "warn")),
        ("warning", ("1", "events do not become memories", "bad")),
        ("critical", ("1", "events do not become memories", "bad")),
    ],
)
def test_warnings_are_counted_while_they_are_active(
    operator: Client, severity: str, tile: tuple[str, str, str]
) -> None:
    timeline.warning(severity=severity)
    timeline.warning("write_latency", severity="critical", ended_at=timeline.NOON)
    assert tiles(operator)["Timeline warnings"] == tile


def test_policies_that_delete_are_pointed_out(operator: Client) -> None:
    RetentionPolicy.objects.update(is_enabled=True)
    assert facts(operator)["Retention"] == "1 policy deletes"


def test_events_of_the_last_days_are_counted(operator: Client) -> None:
    for _ in range(3):
        timeline.event(recorded_at=timezone.now())
    assert facts(operator)["Recorded in the last 7 days"] == "3"


@pytest.mark.parametrize(
    ("permission", "shown"),
    [
        ("view_segment", {"Timeline events", "Size of these files"}),
        ("view_timelinewarning", {"Timeline warnings"}),
        ("view_timelineevent", {"Recorded in the last 7 days"}),
        ("view_memory", set()),
    ],
)
def test_each_part_needs_permission_to_view_what_it_counts(
    staff: Callable[..., Client], permission: str, shown: set[str]
) -> None:
    text = text_of(staff(permission), INDEX)
    parts = {"Timeline events", "Size of these files", "Timeline warnings", "Recorded in the last 7 days"}
    assert {part for part in parts if part in text} == shown
