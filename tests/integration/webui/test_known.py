"""A person's list of everything that is known of them."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.semantic.models import Memory
from tests.integration.webui.person import ANA, BEN, browser_of, remember

pytestmark = pytest.mark.django_db

PAGE, FORGET, BACK = (reverse(f"webui:{name}") for name in ("known", "known_forget", "known_bring_back"))
CELLO, NUTS, TEA = "Ana plays the cello", "Nuts make Ana ill", "Tea is what Ana drinks"


@pytest.fixture
def known(db: None) -> dict[str, Memory]:
    """Three memories of ana, and one of ben."""
    remember(BEN, "Ben keeps bees")
    topics = {CELLO: "fact", NUTS: "health", TEA: "preference"}
    return {content: remember(ANA, content, type=topic) for content, topic in topics.items()}


def found(browser: Client, **data: str) -> set[str]:
    page = browser.post(PAGE, data).content.decode()
    return {one for one in (CELLO, NUTS, TEA, "Ben keeps bees") if one in page}


def standing() -> set[str]:
    return set(Memory.objects.filter(status="active", user_id=ANA).values_list("content", flat=True))


def test_home_leads_to_everything_that_is_known(ana: Client, known: dict[str, Memory]) -> None:
    home = ana.get("/").content.decode()
    assert f'<a href="{PAGE}">Your assistants know <strong>3 things</strong>' in home
    page = ana.get(PAGE).content.decode()
    assert found(ana) == {CELLO, NUTS, TEA}
    assert "Add a memory" in page
    assert "Pause remembering" in page
    assert "Add a memory" in home
    assert "<bdi>kitchen</bdi>" in page


def test_it_is_searched_by_words_topic_app_and_time(ana: Client, known: dict[str, Memory]) -> None:
    ana.post(reverse("webui:tell"), {"content": "I swim"})
    long_ago = timezone.now() - timedelta(days=400)
    Memory.objects.filter(content=TEA).update(created_at=long_ago)
    assert found(ana, words="ana ILL") == {NUTS}
    assert found(ana, topic="fact") == {CELLO}
    assert found(ana, app="person:ana") == set()
    assert found(ana, app="key:kitchen") == {CELLO, NUTS, TEA}
    assert found(ana, time="older") == {TEA}
    assert found(ana, time="week") == {CELLO, NUTS}
    assert found(ana, words="nothing of the kind") == set()


def test_what_was_replaced_or_forgotten_is_found_too(ana: Client, known: dict[str, Memory]) -> None:
    Memory.objects.filter(content=CELLO).update(status="superseded", superseded_by=known[TEA])
    Memory.objects.filter(content=NUTS).update(status="deleted")
    assert found(ana) == {TEA}
    assert found(ana, state="replaced") == {CELLO}
    assert found(ana, state="forgotten") == {NUTS}


def test_several_are_forgotten_and_brought_back_at_once(ana: Client, known: dict[str, Memory]) -> None:
    chosen = [str(known[one].uuid) for one in (CELLO, TEA)]
    question = ana.post(FORGET, {"memory": chosen}).content.decode()
    assert "Forget these 2 memories?" in question
    assert CELLO in question
    assert standing() == {CELLO, NUTS, TEA}
    answer = ana.post(FORGET, {"ids": " ".join(chosen), "sure": "1"})
    assert standing() == {NUTS}
    page = ana.get(answer["Location"]).content.decode()
    assert "2 memories are forgotten." in page
    ana.post(BACK, {"at": answer["Location"].split("=")[1]})
    assert standing() == {CELLO, NUTS, TEA}


def test_all_that_is_shown_is_forgotten(ana: Client, known: dict[str, Memory]) -> None:
    question = ana.post(FORGET, {"all": "1", "topic": "health"}).content.decode()
    assert "Forget this memory?" in question
    assert NUTS in question
    assert CELLO not in question


def test_what_is_added_there_leads_back_there(ana: Client) -> None:
    answer = ana.post(reverse("webui:tell"), {"content": "I swim", "back": "known"})
    assert answer["Location"] == PAGE


def test_nothing_of_another_person_is_listed_forgotten_or_brought_back(ana: Client, known: dict[str, Memory]) -> None:
    ben = browser_of(BEN)
    assert found(ben) == {"Ben keeps bees"}
    ids = " ".join(str(one.uuid) for one in known.values())
    ben.post(FORGET, {"ids": ids, "sure": "1"})
    assert standing() == {CELLO, NUTS, TEA}
    at = ana.post(FORGET, {"ids": ids, "sure": "1"})["Location"].split("=")[1]
    ben.post(BACK, {"at": at})
    assert standing() == set()


@pytest.mark.parametrize("sent", [{}, {"memory": "x"}, {"ids": "1 2"}])
def test_nothing_chosen_forgets_nothing(ana: Client, known: dict[str, Memory], sent: dict[str, str]) -> None:
    assert "Choose what to forget first." in ana.post(FORGET, sent, follow=True).content.decode()
    assert "can no longer be taken back" in ana.post(BACK, {"at": "9" * 20}, follow=True).content.decode()
