"""Memories in the admin: what vanished is found, says why, and is brought back."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from django.test import Client

from apps.core.domain.scope import Scope, system_access
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Conflict, Memory
from apps.semantic.services import MemoryEdit, memory_delete, memory_save, memory_update
from tests.integration.admin.pages import address, run, text_of
from tests.integration.cockpit.bounds import bound_client
from tests.integration.semantic.managed_support import change, write
from tests.integration.semantic.managed_support import manager as manager

pytestmark = pytest.mark.django_db

Remember = Callable[..., Memory]
LIST = address(Memory, "changelist")


@pytest.fixture
def loser(remember: Remember) -> Memory:
    """A memory that another one has superseded."""
    remember("Ana lives in Lisbon.")
    remember("Ana does not live in Lisbon.")
    return Memory.objects.exclude(status="active").get()


def listed(client: Client, **query: str) -> list[str]:
    response = client.get(LIST, query)
    assert response.status_code == 200
    return [memory.content for memory in response.context["cl"].result_list]


def test_words_find_superseded_memory_first(operator: Client, remember: Remember, loser: Memory) -> None:
    for place in ("Porto", "Faro", "Braga"):
        remember(f"Ana's friend Mia was in {place}")
    assert listed(operator, q=loser.content)[0] == loser.content
    text = text_of(operator, LIST, q=loser.content)
    assert f'title="{loser.content}">{loser.content}</s>' in text
    assert "→ now: " in text


@pytest.mark.usefixtures("manager")
def test_tabs_show_parts_of_the_list(operator: Client, remember: Remember, loser: Memory) -> None:
    remember("Perhaps Ana likes tea", confidence=0.3)
    write(change("[ADR] Indent with tabs (accepted)"))
    assert listed(operator, view="past") == [loser.content]
    assert listed(operator, view="weak") == ["Perhaps Ana likes tea"]
    assert listed(operator, view="managed") == ["[ADR] Indent with tabs (accepted)"]
    assert listed(operator, view="timeline") == []
    assert loser.content not in listed(operator, view="active")
    assert '?q=tea&amp;view=past"' in text_of(operator, LIST, q="tea", p="1")


def test_page_says_why_and_what_holds_now(operator: Client, loser: Memory) -> None:
    text = text_of(operator, address(Memory, "change", loser.pk))
    receipt = Conflict.objects.get()
    why = re.search(r'class="mh-why">(.*?)</p>', text, re.DOTALL)
    assert why is not None
    assert re.search(r"Superseded (just now|\d+ \w+ ago) by test", why[1])
    for words in ("rule default", "confidence ", loser.superseded_by.content):
        assert words in why[1]
    assert address(Conflict, "change", receipt.pk) in text
    assert text.index("Saved by test") < text.index("Superseded by test")
    assert "mh-near" in text


def test_history_says_in_a_sentence_who_changed_what(operator: Client, remember: Remember) -> None:
    memory = remember("Ana likes tea")
    edit = MemoryEdit({"content": "Ana likes green tea"})
    memory_update(access=replace(system_access(), actor="person:maya"), uuid=memory.uuid, edit=edit)
    text = text_of(operator, address(Memory, "change", memory.pk))
    assert text.count("maya changed the words.") == 2  # in its life, and in the table of its history
    assert "Updated" not in text


def test_undo_reverts_the_decision(operator: Client, loser: Memory) -> None:
    response = operator.post(address(Memory, "undo", loser.pk), follow=True)
    assert "The decision was undone" in response.content.decode()
    loser.refresh_from_db()
    assert loser.status == "active"
    assert operator.post(address(Memory, "undo", loser.pk)).status_code == 403


def test_undo_restores_what_was_deleted(operator: Client, remember: Remember) -> None:
    memory = remember("Ana likes tea")
    memory_delete(access=system_access("test"), uuid=memory.uuid)
    operator.post(address(Memory, "undo", memory.pk))
    memory.refresh_from_db()
    assert memory.status == "active"
    assert operator.get(address(Memory, "undo", memory.pk)).status_code == 403


def test_deletion_of_several_is_undone_together(operator: Client, remember: Remember) -> None:
    chosen = [remember("one"), remember("two")]
    text = run(operator, "soft_delete", chosen, confirmed="yes").content.decode()
    token = re.search(r'name="of" value="([^"]+)"', text)
    assert token is not None
    operator.post(address(Memory, "undo_deletion"), {"of": token[1]})
    assert set(Memory.objects.values_list("status", flat=True)) == {"active"}
    operator.post(address(Memory, "undo_deletion"), {"of": "forged"})


def test_bound_account_reaches_none_of_it(loser: Memory) -> None:
    memory_save(access=system_access("test"), draft=MemoryDraft("Lisbon is far", scope=Scope("ben", "home")))
    permissions = ("view_memory", "change_memory", "delete_memory", "view_conflict", "change_conflict")
    client = bound_client(permissions, household_id="home")
    assert listed(client, q="Lisbon") == ["Lisbon is far"]
    assert client.post(address(Memory, "undo", loser.pk)).status_code == 404
    assert client.get(address(Memory, "change", loser.pk)).status_code != 200
    assert "Lisbon." not in text_of(client, address(Memory, "change", Memory.objects.get(user_id="ben").pk))


def test_undo_needs_its_permission(staff: Callable[..., Client], loser: Memory) -> None:
    client = staff("view_memory")
    text = text_of(client, address(Memory, "change", loser.pk))
    assert "mh-undo" not in text
    assert "See the decision" not in text
    assert client.post(address(Memory, "undo", loser.pk)).status_code == 403


def test_hostile_contents_are_escaped_in_rows_and_on_the_page(operator: Client, remember: Remember) -> None:
    hostile = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>"
    remember(f"Ana lives in Lisbon. {hostile}")
    remember(f"Ana does not live in Lisbon. {hostile}")
    memory_delete(access=system_access("test"), uuid=remember(f"tea {hostile}").uuid)
    pages = [text_of(operator, address(Memory, "change", memory.pk)) for memory in Memory.objects.all()]
    for text in (text_of(operator, LIST), text_of(operator, LIST, q=hostile), *pages):
        assert "<script>alert" not in text
        assert "<img src=x" not in text
