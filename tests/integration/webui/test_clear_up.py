"""A person says which of two memories is right, and takes it back."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.semantic.models import Conflict, Memory
from tests.integration.webui.person import ANA, BEN, browser_of, remember, unmarked

pytestmark = pytest.mark.django_db

PAGE, UNDO = reverse("webui:clear_up"), reverse("webui:clear_up_undo")
OLD, NEW = "Ana spent $12 on postcards.", "Ana spent $15 on postcards."


def disagree(person: str = ANA, old: str = OLD, new: str = NEW) -> Conflict:
    """Save two memories about which nothing is decided, and return the receipt."""
    remember(person, old)
    remember(person, new)
    return Conflict.objects.get(user_id=person, candidate__content=new, existing__content=old)


def answer(browser: Client, receipt: Conflict, word: str) -> str:
    """Answer, and return the page that follows."""
    url = reverse("webui:clear_up_answer", args=[receipt.uuid])
    return unmarked(browser.post(url, {"answer": word, "seen": receipt.state}, follow=True).content.decode())


def standing() -> list[str]:
    return sorted(Memory.objects.filter(status="active").values_list("content", flat=True))


def rows() -> list[tuple[str, str, str]]:
    return sorted(Memory.objects.values_list("content", "status", "superseded_by__content"))


def undo_token(page: str) -> str:
    return page.split('name="token" value="')[1].split('"')[0]


def test_a_pair_is_asked_about_and_home_leads_there(ana: Client) -> None:
    assert "nothing to clear up" in ana.get(PAGE).content.decode()
    disagree()
    home = ana.get("/").content.decode()
    assert "One thing to clear up" in home
    assert f'href="{PAGE}"' in home
    page = unmarked(ana.get(PAGE).content.decode())
    assert page.index(NEW) < page.index(OLD)
    assert "1 of 1" in page


@pytest.mark.parametrize(
    ("word", "left", "state"),
    [
        ("new", [NEW], "overridden"),
        ("old", [OLD], "overridden"),
        ("both", [OLD, NEW], "accepted"),
        ("neither", [], "accepted"),
    ],
)
def test_an_answer_is_kept_and_can_be_taken_back(ana: Client, word: str, left: list[str], state: str) -> None:
    receipt = disagree()
    before = rows()
    page = answer(ana, receipt, word)
    assert standing() == left
    receipt.refresh_from_db()
    assert (receipt.state, receipt.reviewed_by) == (state, "person:ana")
    assert "nothing to clear up" in page
    page = unmarked(ana.post(UNDO, {"token": undo_token(page)}, follow=True).content.decode())
    assert "Taken back." in page
    assert rows() == before
    receipt.refresh_from_db()
    assert receipt.state == "open"
    assert NEW in page


def test_what_is_not_known_is_asked_later(ana: Client) -> None:
    first, second = disagree(), disagree(old="Ana spent 7 hours on kayaks.", new="Ana spent 9 hours on kayaks.")
    assert "kayaks" in ana.get(PAGE).content.decode()
    page = unmarked(ana.get(PAGE, {"after": second.pk}).content.decode())
    assert NEW in page
    assert "2 of 2" in page
    assert "asked again later" in ana.get(PAGE, {"after": first.pk}).content.decode()
    assert Conflict.objects.filter(state="open").count() == 2


def test_an_answer_to_what_was_reviewed_since_is_refused(ana: Client) -> None:
    receipt = disagree()
    answer(ana, receipt, "both")
    page = answer(ana, receipt, "old")
    assert "This was already decided." in page
    assert standing() == [OLD, NEW]


@pytest.mark.parametrize("sent", [{}, {"answer": "new"}, {"answer": "all", "seen": "open"}])
def test_an_answer_that_is_none_changes_nothing(ana: Client, sent: dict[str, str]) -> None:
    receipt = disagree()
    page = ana.post(reverse("webui:clear_up_answer", args=[receipt.uuid]), sent, follow=True).content.decode()
    assert "Choose one of the answers." in page
    assert standing() == [OLD, NEW]


def test_nothing_of_another_person_can_be_answered_or_taken_back(ana: Client) -> None:
    receipt = disagree(BEN)
    url = reverse("webui:clear_up_answer", args=[receipt.uuid])
    assert ana.post(url, {"answer": "new", "seen": "open"}).status_code == 404
    assert NEW not in ana.get(PAGE).content.decode()
    token = undo_token(answer(browser_of(BEN), receipt, "neither"))
    page = ana.post(UNDO, {"token": token}, follow=True).content.decode()
    assert "can no longer be taken back" in page
    assert standing() == []
    assert "can no longer be taken back" in ana.post(UNDO, {"token": "x"}, follow=True).content.decode()


def test_what_was_decided_is_not_asked(ana: Client) -> None:
    remember(ANA, "Ana lives in Lisbon.")
    remember(ANA, "Ana does not live in Lisbon.")
    assert Conflict.objects.get().outcome == "superseded_existing"
    assert "nothing to clear up" in ana.get(PAGE).content.decode()


def test_few_are_asked_in_a_day_and_the_rest_is_a_log(ana: Client) -> None:
    disagree()
    first = Conflict.objects.get()
    for number in range(7):
        old, new = (remember(ANA, f"Fact {number} {side}.") for side in ("old", "new"))
        Conflict.objects.create(
            user_id=ANA, origin="save", outcome="noticed", candidate=new, existing=old, action="keep",
            strategy="noticed", confidence=0.5, reason="", total_score=number, actor="test", at=first.at,
        )  # fmt: skip
    page = unmarked(ana.get(PAGE).content.decode())
    assert "1 of 5" in page
    assert "Fact 6 new." in page
    assert Conflict.objects.filter(state="open", outcome="noticed").count() >= 8


def test_one_memory_is_asked_about_once(ana: Client) -> None:
    disagree()
    first = Conflict.objects.get()
    other = remember(ANA, "Something else altogether.")
    Conflict.objects.create(
        user_id=ANA, origin="save", outcome="noticed", candidate=first.candidate, existing=other, action="keep",
        strategy="noticed", confidence=0.5, reason="", total_score=0.1, actor="test", at=first.at,
    )  # fmt: skip
    assert "1 of 1" in ana.get(PAGE).content.decode()
