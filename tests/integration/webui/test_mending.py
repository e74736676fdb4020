"""A person mends a wrong replacement, and reads what happened in sentences."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.semantic.models import Conflict, Memory
from tests.integration.webui.person import ANA, BEN, remember

pytestmark = pytest.mark.django_db

LISBON, NOT_LISBON, PORTO = "Ana lives in Lisbon.", "Ana does not live in Lisbon.", "Ana lives in Porto."
DECIDED = reverse("webui:decided")


@pytest.fixture
def loser(db: None) -> Memory:
    """A memory that a rule has replaced."""
    old = remember(ANA, LISBON)
    remember(ANA, NOT_LISBON)
    old.refresh_from_db()
    assert old.status == "superseded"
    return old


def post(browser: Client, name: str, target: Memory | Conflict, **data: str) -> str:
    """Post to a page of a memory or a decision, and return the page that follows."""
    return browser.post(reverse(f"webui:{name}", args=[target.uuid]), data, follow=True).content.decode()


def page_of(browser: Client, memory: Memory) -> str:
    return browser.get(reverse("webui:memory", args=[memory.uuid])).content.decode()


def standing() -> list[str]:
    return sorted(Memory.objects.filter(status="active").values_list("content", flat=True))


def rows() -> list[tuple[str, str, str]]:
    return sorted(Memory.objects.values_list("content", "status", "superseded_by__content"))


@pytest.mark.parametrize(
    ("button", "left"), [("memory_both_true", [NOT_LISBON, LISBON]), ("memory_this_true", [LISBON])]
)
def test_a_wrong_replacement_is_mended_and_undone(ana: Client, loser: Memory, button: str, left: list[str]) -> None:
    before = rows()
    page = page_of(ana, loser)
    assert "Both are true" in page
    assert "This one is true" in page
    page = post(ana, button, loser)
    assert standing() == left
    assert "Both are true" not in page
    decision = Conflict.objects.get(origin="override")
    assert reverse("webui:decision_undo", args=[decision.uuid]) in page
    post(ana, "decision_undo", decision, memory=str(loser.uuid))
    assert rows() == before


def test_what_was_replaced_twice_is_mended_too(ana: Client) -> None:
    first = remember(ANA, LISBON)
    second = remember(ANA, NOT_LISBON)
    third = remember(ANA, PORTO)
    Memory.objects.filter(pk=second.pk).update(status="superseded", superseded_by=third)
    Memory.objects.filter(pk=third.pk).update(status="active", superseded_by=None)
    Memory.objects.filter(pk=first.pk).update(status="superseded", superseded_by=second)
    assert PORTO in page_of(ana, first).replace("<ins>", "").replace("</ins>", "")
    post(ana, "memory_this_true", first)
    assert standing() == [LISBON]
    post(ana, "decision_undo", Conflict.objects.get(origin="override"))
    assert standing() == [PORTO]
    post(ana, "memory_both_true", first)
    assert standing() == [LISBON, PORTO]


def test_forgetting_the_winner_brings_the_loser_back_or_asks(ana: Client, loser: Memory) -> None:
    page = post(ana, "memory_forget", Memory.objects.get(content=NOT_LISBON))
    assert standing() == [LISBON]
    assert "This holds again" in page
    tea, green = remember(ANA, "Ana drinks tea"), remember(ANA, "Bees need water")
    Memory.objects.filter(pk=tea.pk).update(status="superseded", superseded_by=green)
    page = post(ana, "memory_forget", green)
    assert "Is one of them true after all?" in page
    assert reverse("webui:memory", args=[tea.uuid]) in page
    assert "This one is true" in page_of(ana, tea)
    post(ana, "memory_this_true", tea)
    assert standing() == ["Ana drinks tea", LISBON]


def test_the_history_shows_before_and_after_with_restore(ana: Client) -> None:
    memory = remember(ANA, "Ana plays the cello")
    post(ana, "memory_correct", memory, content="Ana plays the viola", version=memory.version_tag)
    memory.refresh_from_db()
    page = page_of(ana, memory)
    assert "You changed the words." in page
    assert "kitchen saved it." in page
    assert "person:ana" not in page
    assert "<del>cello</del>" in page
    assert "<ins>viola</ins>" in page
    assert "Restore" in page
    post(ana, "memory_correct", memory, content="Ana plays the cello", version=memory.version_tag)
    assert standing() == ["Ana plays the cello"]


def test_decisions_are_a_log_with_undo(ana: Client, loser: Memory) -> None:
    page = ana.get(DECIDED).content.decode()
    assert "The new one is true; the one before is left out." in page
    decision = Conflict.objects.get()
    assert "both are true now" in post(ana, "decision_undo", decision)
    assert standing() == [NOT_LISBON, LISBON]
    post(ana, "decision_undo", Conflict.objects.get(origin="override"))
    assert standing() == [NOT_LISBON]


def test_nothing_of_another_person_is_mended(ana: Client, loser: Memory) -> None:
    Memory.objects.update(user_id=BEN)
    Conflict.objects.update(user_id=BEN)
    for name in ("memory_both_true", "memory_this_true"):
        assert ana.post(reverse(f"webui:{name}", args=[loser.uuid])).status_code == 404
    assert ana.post(reverse("webui:decision_undo", args=[Conflict.objects.get().uuid])).status_code == 404
    assert LISBON not in ana.get(DECIDED).content.decode()


def test_a_pair_shows_who_said_each_and_the_words_that_differ(ana: Client) -> None:
    remember(ANA, "Ana spent $12 on postcards.")
    remember(ANA, "Ana spent $15 on postcards.")
    page = ana.get(reverse("webui:clear_up")).content.decode()
    assert page.count("<bdi>kitchen</bdi>") == 2
    assert "<mark>15 </mark>" in page
    assert "<mark>12 </mark>" in page
