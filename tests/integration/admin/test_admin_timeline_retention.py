"""Retention policies in the admin: shown, changed, and confirmed before they delete."""

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from apps.audit.models import AuditEntry
from apps.episodic.admin import retention
from apps.episodic.models import RetentionPolicy, TimelineEvent
from apps.episodic.retention.prune import retention_create
from tests.hostile.support import stored
from tests.integration.admin import timeline
from tests.integration.admin.pages import address, text_of
from tests.integration.episodic.upkeep import an_archived_segment

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("timeline_dir")]

LIST = address(RetentionPolicy, "changelist")
ADD = address(RetentionPolicy, "add")
QUESTION = "Save, and delete them"


@pytest.fixture
def everybody() -> RetentionPolicy:
    """The prepared global policy: 90 days, switched off."""
    return RetentionPolicy.objects.get_or_create(household_id="", defaults={"days": 90})[0]


@pytest.fixture
def old() -> TimelineEvent:
    return timeline.event(timestamp=timezone.now() - timedelta(days=400), household_id="home")


def page_of(policy: RetentionPolicy) -> str:
    return address(RetentionPolicy, "change", policy.pk)


def words_of(response: Any) -> str:
    assert response.status_code == 200
    return " ".join(unescape(strip_tags(response.content.decode())).split())


def hidden(response: Any) -> dict[str, str]:
    """The hidden fields of a page but for the token."""
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', response.content.decode())
    return {name: unescape(value) for name, value in fields if name != "csrfmiddlewaretoken"}


def saved(policy: Model) -> tuple[int, bool]:
    policy.refresh_from_db()
    assert isinstance(policy, RetentionPolicy)
    return policy.days, policy.is_enabled


def test_list_shows_days_kept_and_events_deleted(operator: Client, everybody: RetentionPolicy) -> None:
    home = retention_create(household_id="home", days=30, is_enabled=True)
    RetentionPolicy.objects.filter(pk=home.pk).update(last_run_at=timeline.NOON, last_pruned_count=1_234)
    text = words_of(operator.get(LIST))
    for expected in (
        "everybody without their own policy", "everything; 90 days when it is on", "never", "the household home",
        "30 days", "1,234", "2026-05-10 12:00:00",
    ):  # fmt: skip
        assert expected in text


def test_switching_on_is_asked_about_first(operator: Client, everybody: RetentionPolicy, old: TimelineEvent) -> None:
    response = operator.post(page_of(everybody), {"days": "90", "is_enabled": "on"})
    text = words_of(response)
    assert "Delete the events of everybody without their own policy that are older than 90 days?" in text
    assert "The next run would delete 1 event." in text
    assert QUESTION in text
    assert saved(everybody) == (90, False)


def test_what_was_confirmed_is_saved_as_it_was_entered(operator: Client, everybody: RetentionPolicy) -> None:
    question = operator.post(page_of(everybody), {"days": "45", "is_enabled": "on", "_continue": ""})
    response = operator.post(page_of(everybody), hidden(question))
    assert (response.status_code, response.headers["Location"]) == (302, page_of(everybody))
    assert saved(everybody) == (45, True)
    assert AuditEntry.objects.latest("pk").object_id == str(everybody.pk)


def test_nothing_is_deleted_by_saving_a_policy(
    operator: Client, everybody: RetentionPolicy, old: TimelineEvent
) -> None:
    question = operator.post(page_of(everybody), {"days": "1", "is_enabled": "on"})
    operator.post(page_of(everybody), hidden(question))
    assert saved(everybody) == (1, True)
    assert TimelineEvent.objects.filter(pk=old.pk).exists()


def test_fewer_days_must_be_confirmed(operator: Client, everybody: RetentionPolicy, old: TimelineEvent) -> None:
    RetentionPolicy.objects.update(is_enabled=True, days=365)
    timeline.event(timestamp=timezone.now() - timedelta(days=200))
    text = words_of(operator.post(page_of(everybody), {"days": "100", "is_enabled": "on"}))
    assert "The next run would delete 2 events; without a change 1." in text


@pytest.mark.parametrize("fields", [{"days": "400", "is_enabled": "on"}, {"days": "90"}, {"days": "5"}])
def test_what_deletes_no_more_than_before_is_saved_at_once(
    operator: Client, everybody: RetentionPolicy, fields: dict[str, str]
) -> None:
    RetentionPolicy.objects.update(is_enabled=True)
    assert operator.post(page_of(everybody), fields).status_code == 302
    assert saved(everybody) == (int(fields["days"]), "is_enabled" in fields)


def test_new_policy_that_is_off_is_saved_at_once(operator: Client) -> None:
    assert operator.post(ADD, {"household_id": "home", "days": "30"}).status_code == 302
    made = RetentionPolicy.objects.get(household_id="home")
    assert (made.days, made.is_enabled) == (30, False)


def test_a_new_policy_that_deletes_is_asked_about(operator: Client, old: TimelineEvent) -> None:
    question = operator.post(ADD, {"household_id": "home", "days": "30", "is_enabled": "on", "_save": ""})
    assert "The next run would delete 1 event." in words_of(question)
    assert RetentionPolicy.objects.count() == 1
    assert operator.post(ADD, hidden(question)).status_code == 302
    assert saved(RetentionPolicy.objects.get(household_id="home")) == (30, True)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"days": "0"}, "greater than or equal to 1"),
        ({"days": "soon"}, "Enter a whole number"),
        ({"days": "99999999999"}, "less than or equal to"),
        ({"household_id": ""}, "already exists"),
        ({"household_id": "x" * 201}, "at most 200"),
    ],
)
def test_what_is_not_valid_is_refused_with_its_reason(operator: Client, fields: dict[str, str], message: str) -> None:
    given = {"household_id": "home", "days": "30", "is_enabled": "on", **fields}
    text = words_of(operator.post(ADD, given))
    assert message in text
    assert QUESTION not in text
    assert RetentionPolicy.objects.count() == 1


def test_policy_created_concurrently_is_not_overwritten(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def be_late(**fields: Any) -> None:
        raise ValidationError("There is one already.")

    monkeypatch.setattr(retention, "retention_create", be_late)
    response = operator.post(ADD, {"household_id": "home", "days": "30"}, follow=True)
    assert "The policies were changed by another request." in words_of(response)


def test_whose_policy_it_is_stays(operator: Client, everybody: RetentionPolicy) -> None:
    home = retention_create(household_id="home", days=30, is_enabled=False)
    operator.post(page_of(home), {"household_id": "other", "days": "31"})
    home.refresh_from_db()
    assert (home.household_id, home.days) == ("home", 31)


def test_what_a_run_did_cannot_be_written_by_hand(operator: Client, everybody: RetentionPolicy) -> None:
    operator.post(page_of(everybody), {"days": "90", "last_pruned_count": "5", "last_run_at": "2026-01-01"})
    everybody.refresh_from_db()
    assert (everybody.last_pruned_count, everybody.last_run_at) == (None, None)


def test_preview_counts_rows_and_archived_events_and_changes_nothing(
    operator: Client, everybody: RetentionPolicy
) -> None:
    an_archived_segment(range(4))
    timeline.event(timestamp=timezone.now() - timedelta(days=400))
    RetentionPolicy.objects.update(days=1)
    before = stored()
    url = reverse("admin:episodic_retentionpolicy_preview", args=[everybody.pk])
    text = words_of(operator.get(url))
    assert "The next run would delete 5 events." in text
    assert "Rows1Archived events4Files that are rewritten or removed1" in text
    assert QUESTION not in text
    assert stored() == before


def test_a_preview_says_when_nothing_is_that_old(operator: Client, everybody: RetentionPolicy) -> None:
    timeline.event(timestamp=timezone.now(), recorded_at=timezone.now())
    url = reverse("admin:episodic_retentionpolicy_preview", args=[everybody.pk])
    assert "Nothing is that old yet." in words_of(operator.get(url))


def test_files_that_cannot_be_read_are_said_not_to_be_counted(operator: Client, everybody: RetentionPolicy) -> None:
    timeline.segment("archived", rows="gone")  # whose file is not there
    url = reverse("admin:episodic_retentionpolicy_preview", args=[everybody.pk])
    RetentionPolicy.objects.update(days=1)
    assert "1 file could not be read, so its contents are not counted." in words_of(operator.get(url))


def test_deleting_policy_says_what_global_one_would_delete(
    operator: Client, everybody: RetentionPolicy, old: TimelineEvent
) -> None:
    home = retention_create(household_id="home", days=30, is_enabled=False)
    url = address(RetentionPolicy, "delete", home.pk)
    assert "Nothing is deleted then." in words_of(operator.get(url))
    RetentionPolicy.objects.filter(pk=everybody.pk).update(is_enabled=True)
    question = operator.get(url)
    assert "The next run would delete 1 event." in words_of(question)
    assert operator.post(url, hidden(question)).status_code == 302
    assert not RetentionPolicy.objects.filter(pk=home.pk).exists()


def test_the_global_policy_is_not_deleted(operator: Client, everybody: RetentionPolicy) -> None:
    assert operator.post(address(RetentionPolicy, "delete", everybody.pk), {"post": "yes"}).status_code == 403


def test_policies_are_not_deleted_many_at_a_time(operator: Client, everybody: RetentionPolicy) -> None:
    data = {"action": "delete_selected", "_selected_action": [everybody.pk], "post": "yes"}
    operator.post(LIST, data)
    assert RetentionPolicy.objects.exists()


def test_what_a_household_is_called_is_escaped(operator: Client) -> None:
    script = "<script>alert(1)</script>"
    home = retention_create(household_id=script, days=30, is_enabled=False)
    given = {"days": "5", "is_enabled": "on"}
    pages = (operator.get(LIST), operator.get(page_of(home)), operator.post(page_of(home), given))
    for page in pages:
        assert "<script>alert(1)" not in page.content.decode()
        assert "&lt;script&gt;alert(1)" in page.content.decode()


def test_who_may_only_look_changes_nothing(staff: Callable[..., Client], everybody: RetentionPolicy) -> None:
    client = staff("view_retentionpolicy")
    text_of(client, page_of(everybody))
    text_of(client, reverse("admin:episodic_retentionpolicy_preview", args=[everybody.pk]))
    for confirmed in ({}, {"confirmed": "yes"}):
        response = client.post(page_of(everybody), {"days": "5", "is_enabled": "on", **confirmed})
        assert response.status_code == 403
    assert client.post(ADD, {"household_id": "home", "days": "5", "confirmed": "yes"}).status_code == 403
    assert saved(everybody) == (90, False)


def test_who_may_not_look_sees_no_preview(staff: Callable[..., Client], everybody: RetentionPolicy) -> None:
    url = reverse("admin:episodic_retentionpolicy_preview", args=[everybody.pk])
    assert staff("view_segment").get(url).status_code == 403
