"""Consolidations in the admin."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape
from django_q.models import OrmQ

from apps.audit.models import AuditEntry
from apps.semantic.consolidation.services import consolidation_create, consolidation_run
from apps.semantic.models import Conflict, Consolidation, Memory
from tests.integration.admin.pages import address, run, text_of
from tests.integration.semantic.opposites import unnoticed

pytestmark = pytest.mark.django_db

Remember = Callable[..., Memory]
LIST = "/admin/semantic/consolidation/"


def nightly(**settings: Any) -> Consolidation:
    return consolidation_create(name="nightly", settings=settings)


def fields(**changed: Any) -> dict[str, Any]:
    """The form of a consolidation, as a browser sends it."""
    return {
        "name": "nightly", "mode": "notice", "user_id": "", "household_id": "", "persona_id": "",
        "max_memories": "500", "max_decisions": "50", "max_seconds": "60", **changed,
    }  # fmt: skip


@pytest.fixture
def disagreeing(remember: Remember) -> None:
    """Two memories that contradict each other and both stand."""
    with unnoticed():
        for content in ("Ana lives in Lisbon.", "Ana does not live in Lisbon."):
            remember(content)


def test_new_one_is_off_unless_it_is_switched_on(operator: Client) -> None:
    response = operator.post(address(Consolidation, "add"), fields(user_id="ana", max_decisions="7"))
    assert response.status_code == 302, response.content.decode()
    made = Consolidation.objects.get()
    assert (made.name, made.enabled, made.mode, made.user_id, made.max_decisions) == (
        "nightly", False, "notice", "ana", 7,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("max_decisions", "0", "greater than or equal to 1"),
        ("max_memories", "10001", "less than or equal to 10000"),
        ("max_seconds", "soon", "Enter a whole number"),
        ("mode", "guess", "Select a valid choice"),
        ("name", "", "This field is required"),
        ("user_id", "x" * 201, "at most 200 characters"),
    ],
)
def test_what_is_not_valid_is_refused_with_its_reason(operator: Client, field: str, value: str, told: str) -> None:
    response = operator.post(address(Consolidation, "add"), fields(**{field: value}))
    assert response.status_code == 200
    assert told in response.content.decode()
    assert not Consolidation.objects.exists()


def test_a_name_is_given_once(operator: Client) -> None:
    nightly()
    assert "already exists" in operator.post(address(Consolidation, "add"), fields()).content.decode()


def test_settings_can_be_changed_but_not_the_name(operator: Client) -> None:
    before = nightly(max_decisions=7)
    response = operator.post(address(Consolidation, "change", before.pk), fields(name="other", enabled="on"))
    assert response.status_code == 302
    after = Consolidation.objects.get()
    assert (after.name, after.enabled, after.max_decisions) == ("nightly", True, 50)
    assert after.epoch == before.epoch + 1


def test_saving_without_change_does_not_disturb_run(operator: Client) -> None:
    before = nightly()
    operator.post(address(Consolidation, "change", before.pk), fields())
    assert Consolidation.objects.get().epoch == before.epoch


def test_progress_cannot_be_written_by_hand(operator: Client) -> None:
    before = nightly()
    operator.post(address(Consolidation, "change", before.pk), fields(cursor="99", decided="99", epoch="99"))
    after = Consolidation.objects.get()
    assert (after.cursor, after.decided, after.epoch) == (0, 0, 0)


def test_running_now_asks_the_workers_for_a_run(operator: Client) -> None:
    one = nightly()
    response = run(operator, "run_chosen", [one])
    assert "1 run was requested." in response.content.decode()
    [task] = OrmQ.objects.all()
    assert (task.func(), task.task["args"]) == ("apps.semantic.tasks.consolidate", (one.pk,))
    assert AuditEntry.objects.latest("pk").detail["said"] == "Run requested."


def test_running_from_its_page_does_the_same(operator: Client) -> None:
    one = nightly()
    url = address(Consolidation, "run_this", one.pk)
    assert "Run it now?" in text_of(operator, url)
    assert not OrmQ.objects.exists()
    assert operator.post(url, {"_form_submitted": "True"}).status_code == 302
    assert [task.func() for task in OrmQ.objects.all()] == ["apps.semantic.tasks.consolidate"]


def test_beginning_anew_moves_it_back_to_first_memory(operator: Client, disagreeing: None) -> None:
    one = nightly()
    consolidation_run(pk=one.pk)
    one.refresh_from_db()
    assert one.cursor > 0
    response = run(operator, "reset_chosen", [one])
    assert "1 will start over with its next run." in response.content.decode()
    one.refresh_from_db()
    assert (one.cursor, one.looked_at, one.noticed) == (0, 0, 0)


def test_the_list_says_how_far_each_is(operator: Client, disagreeing: None) -> None:
    one = nightly(enabled=True, user_id="ana")
    assert "not started" in text_of(operator, LIST)
    consolidation_run(pk=one.pk)
    text = text_of(operator, LIST)
    assert "2 compared, 1 noticed, 0 decided; complete" in text
    assert "user ana" in text
    assert "Scheduled" in text


@pytest.mark.parametrize(
    ("enabled", "max_memories", "state"),
    [(False, 3, "Off"), (False, 1, "Paused"), (True, 3, "Scheduled"), (True, 1, "Under way")],
)
def test_state_says_whether_it_goes_on_by_itself(
    operator: Client, disagreeing: None, enabled: bool, max_memories: int, state: str
) -> None:
    one = nightly(enabled=enabled, max_memories=max_memories)
    consolidation_run(pk=one.pk)
    shown: Any = operator.get(LIST).context["cl"]
    assert shown.model_admin.state(shown.result_list[0])[1] == state


def test_an_error_is_shown_where_somebody_looks(operator: Client) -> None:
    one = nightly()
    Consolidation.objects.update(last_error="The embedding model does not answer.")
    assert "Failed" in text_of(operator, LIST)
    assert "The embedding model does not answer." in text_of(operator, address(Consolidation, "change", one.pk))


def test_what_it_found_is_one_click_away(operator: Client, disagreeing: None) -> None:
    one = nightly()
    consolidation_run(pk=one.pk)
    url = f"{address(Conflict, 'changelist')}?actor=consolidation%3Anightly&origin=consolidation&state=all"
    assert escape(url) in text_of(operator, LIST)
    response: Any = operator.get(url)
    assert response.status_code == 200
    assert response.context["cl"].result_count == 1
    others: Any = operator.get(url.replace("nightly", "other"))
    assert others.context["cl"].result_count == 0


def test_deleting_one_leaves_its_receipts(operator: Client, disagreeing: None) -> None:
    one = nightly()
    consolidation_run(pk=one.pk)
    assert operator.post(address(Consolidation, "delete", one.pk), {"post": "yes"}).status_code == 302
    assert not Consolidation.objects.exists()
    assert Conflict.objects.count() == 1


def test_deleting_several_from_the_list(operator: Client) -> None:
    nightly()
    run(operator, "delete_selected", Consolidation.objects.all(), post="yes")
    assert not Consolidation.objects.exists()


def test_who_may_only_look_can_neither_run_nor_change(staff: Callable[..., Client]) -> None:
    one = nightly()
    client = staff("view_consolidation")
    assert "nightly" in text_of(client, LIST)
    run(client, "run_chosen", [one])
    run(client, "reset_chosen", [one])
    url = address(Consolidation, "run_this", one.pk)
    assert client.post(url, {"_form_submitted": "True"}).status_code == 403
    assert client.post(address(Consolidation, "change", one.pk), fields(enabled="on")).status_code == 403
    assert client.post(address(Consolidation, "add"), fields(name="other")).status_code == 403
    assert not OrmQ.objects.exists()
    assert not Consolidation.objects.get().enabled


def test_with_none_the_page_offers_to_make_one(operator: Client) -> None:
    assert "Make the first one." in text_of(operator, LIST)


def test_with_none_who_may_only_look_learns_what_that_means(staff: Callable[..., Client]) -> None:
    assert "new ones are compared when they are saved" in text_of(staff("view_consolidation"), LIST)
