"""The judge in the admin."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape
from django_q.models import OrmQ

from apps.audit.models import AuditEntry
from apps.semantic.models import Conflict, Judge
from tests.integration.admin.pages import address, text_of
from tests.integration.llm.chat_server import ChatServer
from tests.integration.semantic.undecided import UPDATE, judge, notice

pytestmark = pytest.mark.django_db

LIST = "/admin/semantic/judge/"


def fields(**changed: Any) -> dict[str, Any]:
    """The form of the judge, as a browser sends it."""
    return {"pairs_per_day": "100", "max_seconds": "60", **changed}


def page() -> str:
    return address(Judge, "change", 1)


def test_the_judge_is_there_and_off(operator: Client) -> None:
    text = text_of(operator, LIST)
    assert "The judge" in text
    assert "none is configured" in text
    assert operator.get(address(Judge, "add")).status_code == 403
    assert operator.post(address(Judge, "delete", 1), {"post": "yes"}).status_code == 403
    assert not Judge.objects.get().enabled


def test_it_is_turned_on_and_says_that_there_is_no_model(operator: Client) -> None:
    text_of(operator, LIST)
    assert operator.post(page(), fields(enabled="on", pairs_per_day="7")).status_code == 302
    found = Judge.objects.get()
    assert (found.enabled, found.pairs_per_day) == (True, 7)
    assert "No model" in text_of(operator, LIST)


def test_what_is_not_valid_is_refused_with_its_reason(operator: Client) -> None:
    text_of(operator, LIST)
    assert "greater than or equal to 1" in operator.post(page(), fields(pairs_per_day="0")).content.decode()
    assert "less than or equal to 300" in operator.post(page(), fields(max_seconds="301")).content.decode()


def test_running_now_asks_the_workers_for_a_run(operator: Client) -> None:
    text_of(operator, LIST)
    url = address(Judge, "run_this", 1)
    assert "Run it now?" in text_of(operator, url)
    assert not OrmQ.objects.exists()
    assert operator.post(url, {"_form_submitted": "True"}).status_code == 302
    assert [task.func() for task in OrmQ.objects.all()] == ["apps.semantic.tasks.judge"]
    assert AuditEntry.objects.latest("pk").detail["said"] == "Run requested."


def test_pages_say_what_it_has_done(operator: Client, chat_model: ChatServer) -> None:
    notice("Ana rents a flat in Oslo.", "Ana rents a flat in Bergen.")
    chat_model.say(UPDATE)
    judge()
    for url in (LIST, page()):
        text = text_of(operator, url)
        for words in ("1 update", "1 of 100", "some-model", "complete"):
            assert words in text
    url = f"{address(Conflict, 'changelist')}?origin=judge&state=all"
    assert escape(url) in text_of(operator, LIST)
    response: Any = operator.get(url)
    assert response.context["cl"].result_count == 1


def test_receipt_says_which_model_found_what_and_can_be_reverted(operator: Client, chat_model: ChatServer) -> None:
    notice("Ana rents a flat in Oslo.", "Ana rents a flat in Bergen.")
    chat_model.say(UPDATE)
    judge()
    receipt = Conflict.objects.get(origin="judge")
    text = text_of(operator, address(Conflict, "change", receipt.pk))
    assert "model-that-answered says that only one of them can be true now." in text
    assert "As the notes say." in text
    assert "Revert" in text


def test_who_may_only_look_can_neither_run_nor_change(operator: Client, staff: Callable[..., Client]) -> None:
    text_of(operator, LIST)
    client = staff("view_judge")
    assert "The judge" in text_of(client, LIST)
    url = address(Judge, "run_this", 1)
    assert client.post(url, {"_form_submitted": "True"}).status_code == 403
    assert client.post(page(), fields(enabled="on")).status_code == 403
    assert not OrmQ.objects.exists()
    assert not Judge.objects.get().enabled
