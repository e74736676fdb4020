"""The first page of the admin, and the frame of all of them."""

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse
from pytest_django import Settings

from apps.core.admin.kit import filesize
from apps.core.domain.scope import system_access
from apps.events.models import Delivery
from apps.monitor.services import forget_recent_problems
from apps.semantic.bridge.policies import policy_create
from apps.semantic.models import Memory
from apps.semantic.services import memory_delete
from apps.semantic.status import memory_counts
from memoryhub.admin.navigation import environment
from tests.integration.admin import bridge, timeline
from tests.integration.core.processes import beside

pytestmark = pytest.mark.django_db

Remember = Callable[..., Memory]
NOON = datetime(2026, 5, 10, 12, tzinfo=UTC)
INDEX = reverse("admin:index")


def test_memories_are_counted_by_status_and_user(remember: Remember) -> None:
    gone = remember("one")
    remember("two")
    remember("three", user="ben")
    memory_delete(access=system_access("test"), uuid=gone.uuid)
    counts = memory_counts(system_access("test"), NOON)
    assert counts.by_status == {"active": 2, "superseded": 0, "merged": 0, "rejected": 0, "deleted": 1}
    assert counts.users == 2


def test_memories_are_counted_by_day_on_which_they_were_saved(remember: Remember) -> None:
    for content, days in (("a", 0), ("b", 0), ("c", 2), ("d", 6), ("e", 7)):
        Memory.objects.filter(pk=remember(content).pk).update(created_at=NOON - timedelta(days=days))
    counts = memory_counts(system_access("test"), NOON)
    assert list(counts.by_day.values()) == [1, 0, 0, 0, 1, 0, 2]
    assert list(counts.by_day)[-1] == NOON.date()
    assert counts.saved == 4


def test_the_first_page_says_how_the_hub_is(operator: Client, remember: Remember, subscriber: None) -> None:
    remember("one")
    Delivery.objects.update(status=Delivery.Status.FAILED)
    forget_recent_problems()
    context = operator.get(INDEX).context
    tiles = {tile.label: (tile.value, tile.tone) for tile in context["tiles"]}
    assert tiles["Active memories"] == ("1", "")
    assert tiles["Pending deliveries"] == ("0", "")
    assert tiles["Failed deliveries"] == ("1", "bad")
    assert tiles["Valid API keys"] == ("0", "")
    checks = {name: ok for name, _, ok in context["state"]["checks"]}
    assert {"Database", "Migrations", "Embedding"} <= checks.keys()
    assert [name for name, ok in checks.items() if not ok] == ["Worker"], "none runs beside a test"
    assert dict(context["search"])["Active memories without a vector in it"] == "0"


def test_first_page_says_whether_events_become_memories(operator: Client) -> None:
    def tile() -> tuple[str, str, str]:
        [found] = [
            one for one in operator.get(INDEX).context["tiles"] if one.label == "Events waiting to become memories"
        ]
        return found.value, found.note, found.tone

    assert tile() == ("0", "no routing policy is switched on", "")
    policy_create(name="important", settings={"enabled": True})
    assert tile() == ("0", "none waiting", "")
    bridge.routed(recorded_at=datetime.now(UTC) - timedelta(seconds=90))
    assert tile()[:1] + tile()[2:] == ("1", "")
    bridge.routed(status="failed")
    assert tile() == ("1", "1 failed; review them", "bad")
    timeline.warning("write_latency")
    assert tile() == ("1", "suspended by a warning: write latency", "warn")


def test_failed_deliveries_are_marked_in_navigation(operator: Client, remember: Remember, subscriber: None) -> None:
    remember("one")
    beside("worker")
    items = [item for group in operator.get(INDEX).context["sidebar_navigation"] for item in group["items"]]
    assert not any("badge" in item for item in items)
    Delivery.objects.update(status=Delivery.Status.FAILED)
    items = [item for group in operator.get(INDEX).context["sidebar_navigation"] for item in group["items"]]
    assert [str(item["title"]) for item in items if item.get("badge") == 1] == ["Now", "Deliveries"]


def test_who_may_see_nothing_gets_no_numbers(staff: Callable[..., Client], remember: Remember) -> None:
    remember("one")
    response = staff().get(INDEX)
    text = response.content.decode()
    assert response.status_code == 403
    assert "you have no access to anything in this hub" in text
    assert "Active memories" not in text
    assert "Failed deliveries" not in text
    assert "Valid API keys" not in text


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ({"debug": True}, ["Debug mode", "danger"]),
        ({"public_url": "https://testserver"}, ["testserver", "success"]),
        ({}, ["Local", "info"]),
    ],
)
def test_label_at_top_says_which_hub_it_is(
    settings: Settings, rf: RequestFactory, changes: dict[str, object], label: list[str]
) -> None:
    settings.MEMORYHUB = dataclasses.replace(settings.MEMORYHUB, **changes)
    assert environment(rf.get("/")) == label


@pytest.mark.parametrize(
    ("size", "shown"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KB"), (512 * 1024**2, "512 MB"), (3 * 1024**4, "3.0 TB")],
)
def test_sizes_are_given_in_units_for_people(size: int, shown: str) -> None:
    assert filesize(size) == shown
