"""What a retention policy would delete, over the bars of its events."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.core.domain.scope import Scope
from apps.episodic.domain.retention import RetentionRule
from apps.episodic.models import RetentionPolicy, TimelineEvent
from apps.episodic.services import retention_create, retention_preview
from tests.hostile.support import stored
from tests.integration.admin import timeline
from tests.integration.admin.pages import text_of
from tests.integration.episodic.upkeep import an_archived_segment

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("timeline_dir")]

LIST = reverse("admin:episodic_retentionpolicy_changelist")


def horizon(client: Client, **query: Any) -> dict[str, Any]:
    response = client.get(LIST, query)
    assert response.status_code == 200
    return dict(response.context["horizon"])


@pytest.fixture
def aged() -> None:
    """Events of 300 to 1 days ago, as rows and in a file, of two types and three households."""
    an_archived_segment(range(6), scope=Scope("ana", "office"), event_type="door")  # of March
    for days in (300, 200, 100, 50, 10, 1):
        moment = timezone.now() - timedelta(days=days)
        timeline.event(f"{days}", timestamp=moment, event_type="visit" if days % 100 else "message")
        timeline.event(f"{days} at home", timestamp=moment, household_id="home")


@pytest.mark.parametrize("days", [1, 30, 150, 299, 1_000])
@pytest.mark.parametrize("household", ["", "home"])
def test_what_would_go_is_what_the_next_run_would_delete(
    operator: Client, aged: None, days: int, household: str
) -> None:
    retention_create(household_id="home", days=30, is_enabled=False)
    shown = horizon(operator, household=household, days=days)
    preview = retention_preview(household_id=household, policy=RetentionRule(household, days, is_enabled=True))
    assert shown["total"] == sum(shown["going"].values()) == preview.removal.events
    assert shown["drawing"].total == (6 if household else 12)


def test_what_would_go_is_said_by_type(operator: Client, aged: None) -> None:
    shown = horizon(operator, days=90)
    assert shown["going"] == {"door": 6, "conversation": 3, "message": 3}
    assert "<strong>12 events would be deleted</strong>, of 18" in text_of(operator, LIST, days=90)
    assert "<strong>Nothing would be deleted</strong>" in text_of(operator, LIST, days=400)


def test_bars_before_the_horizon_are_shaded(operator: Client, aged: None) -> None:
    before = {days: text_of(operator, LIST, days=days).count("is-going") for days in (400, 290, 150, 2)}
    bars = len(horizon(operator)["drawing"].bars)
    assert before[400] == 0 < before[290] < before[150] < before[2] <= bars


def test_the_days_of_the_policy_are_shown_first(operator: Client, aged: None) -> None:
    assert horizon(operator)["days"] == 90
    for wrong in ("", "0", "-1", "x", "99999999999", "1e3"):
        assert horizon(operator, days=wrong)["days"] == 90


def test_the_slider_asks_before_anything_is_deleted(operator: Client, aged: None) -> None:
    policy, before = RetentionPolicy.objects.get(household_id=""), stored()
    shown = horizon(operator, days=90)
    question = operator.post(shown["change"], {"days": shown["days"], "is_enabled": "on", "_save": "Save"})
    assert "The next run would delete 12 events." in question.content.decode()
    assert stored() == before
    policy.refresh_from_db()
    assert not policy.is_enabled
    operator.post(shown["change"], {"days": 90, "is_enabled": "on", "_save": "Save", "confirmed": "yes"})
    policy.refresh_from_db()
    assert (policy.days, policy.is_enabled) == (90, True)
    assert TimelineEvent.objects.count() == 12  # the schedule deletes


def test_who_may_only_look_has_no_button(staff: Callable[..., Client], aged: None) -> None:
    client = staff("view_retentionpolicy")
    text = text_of(client, LIST, days=30)
    assert "would be deleted" in text
    assert "Switch it on" not in text
    shown = horizon(client, days=30)
    assert client.post(shown["change"], {"days": 30, "is_enabled": "on", "confirmed": "yes"}).status_code == 403


def test_without_policies_there_is_no_slider(operator: Client) -> None:
    RetentionPolicy.objects.all().delete()
    assert "What would be deleted" not in text_of(operator, LIST)


def test_what_households_and_types_are_called_is_escaped(operator: Client) -> None:
    script = "<script>alert(1)</script>"
    retention_create(household_id=script, days=30, is_enabled=False)
    timeline.event(event_type=script, household_id=script)
    text = text_of(operator, LIST, household=script)
    assert "<script>alert(1)" not in text
    assert text.count("&lt;script&gt;alert(1)") >= 3
