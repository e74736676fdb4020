"""The pages of a person show what is theirs, and nothing of others."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.services import account_create, account_set_person
from apps.semantic.models import Memory
from apps.webui.navigation import PLACES
from apps.webui.table import PAGES
from tests.integration.webui.person import ANA, BEN, browser_of, remember, taken_back

pytestmark = pytest.mark.django_db

OWN, OTHER = "quinceown", "quinceother"


def text_of(answer: Any) -> str:
    return unescape(answer.content.decode())


def test_every_place_is_a_page() -> None:
    assert {place.name for place in PLACES} <= {page.name for page in PAGES}
    assert sum(place.is_main for place in PLACES) <= 5


def address(name: str, memory: Memory) -> str:
    """Return the address of a page: about a memory, or about a note."""
    page = next(page for page in PAGES if page.name == name)
    arguments = {"uuid": memory.uuid, "path": "MEMORY.md", "span": "2026-11-02", "part": "gate"}
    return reverse(f"webui:{name}", kwargs={key: one for key, one in arguments.items() if f":{key}>" in page.path})


# The pages in parts, since what a part needs is made once.
PARTS = [PAGES[number::6] for number in range(6)]
EACH_PART = pytest.mark.parametrize("pages", PARTS, ids=range(len(PARTS)))


@EACH_PART
def test_pages_show_nothing_of_another_person(pages, ana: Client) -> None:
    mine, theirs = remember(ANA, f"{OWN} likes tea"), remember(BEN, f"{OTHER} likes coffee")
    for page in pages:
        for memory in (mine, theirs):
            with taken_back(f"{page.name} of {memory.user_id}"):
                for answer in (
                    ana.get(address(page.name, memory)),
                    ana.post(address(page.name, memory), {"question": "likes"}),
                ):
                    assert OTHER not in answer.getvalue().decode()
                    if memory is theirs and "<uuid:uuid>" in page.path:
                        assert answer.status_code in {404, 405}
                theirs.refresh_from_db()
                assert theirs.status == "active"


@EACH_PART
def test_pages_are_for_people_who_signed_in(pages, db: None) -> None:
    memory = remember(ANA, f"{OWN} likes tea")
    operator = Client()
    operator.force_login(account_create(username="olga", role="Operator"))
    for page in pages:
        with taken_back(page.name):
            answer = Client().get(address(page.name, memory))
            assert OWN not in answer.content.decode()
            if page.is_public:  # by an address of its own, which this is not
                assert answer.status_code == 404
                continue
            assert answer.status_code == (200 if page.path == "" else 302)
            answer = operator.get(address(page.name, memory))
            assert OWN not in answer.content.decode()
            assert answer.status_code == (200 if page.path == "" else 403)


def test_pages_are_kept_by_no_cache(ana: Client) -> None:
    answer = ana.get("/")
    assert "no-store" in answer["Cache-Control"]
    assert "Cookie" in answer["Vary"]


def test_a_person_never_sees_the_admin(ana: Client) -> None:
    for path in ("/admin/", reverse("admin:semantic_memory_changelist")):
        answer = ana.get(path, follow=True)
        assert answer.redirect_chain[-1][0] == "/", "she is led to her own pages, and told why"
        assert "The admin is for those who run this hub" in text_of(answer)


def test_a_visitor_reads_what_this_is(db: None) -> None:
    page = text_of(Client().get("/"))
    assert "MemoryHub is the memory of your AI assistants" in page
    assert f'href="{reverse("account_login")}"' in page
    assert "webui.css" in page, "it looks like the pages that it leads to"
    assert "readyz" not in page, "checks are for machines"


def test_signing_in_leads_a_person_to_their_pages(db: None) -> None:
    browser = browser_of(ANA)
    answer = browser.get(reverse("account_login"))
    assert answer.status_code == 302
    assert answer["Location"] == "/"


def test_an_owner_may_have_pages_too(db: None) -> None:
    login = account_create(username="olga", role="Owner")
    account_set_person(login=login, person_id=ANA)
    remember(ANA, f"{OWN} likes tea")
    remember(BEN, f"{OTHER} likes coffee")
    owner = Client()
    owner.force_login(login)
    page = owner.get("/").content.decode()
    assert OWN in page
    assert OTHER not in page
    assert owner.get("/admin/").status_code == 200


def test_home_says_how_much_is_known_and_what_is_new(ana: Client) -> None:
    assert "know nothing about you yet" in ana.get("/").content.decode()
    memory = remember(ANA, "Ana plays the cello")
    page = ana.get("/").content.decode()
    assert "one thing" in page
    assert "Ana plays the cello" in page
    assert reverse("webui:memory", args=[memory.uuid]) in page
    fragment = ana.get(reverse("webui:home_latest")).content.decode()
    assert "Ana plays the cello" in fragment
    assert "<html" not in fragment


def test_a_question_is_answered_without_script_and_is_in_no_address(ana: Client) -> None:
    remember(ANA, "Ana plays the cello")
    answer = ana.post(reverse("webui:ask"), {"question": "which instrument does Ana play?"})
    assert "Ana plays the cello" in answer.content.decode()
    assert "cello" not in ana.get(reverse("webui:ask"), {"question": "cello"}).content.decode()


def test_stored_text_does_not_become_markup(ana: Client) -> None:
    hostile = "<img src=x onerror=alert(1)>{{ 1 }}<script>alert(1)</script>"
    memory = remember(ANA, hostile)
    for url in ("/", reverse("webui:memory", args=[memory.uuid])):
        page = ana.get(url).content.decode()
        assert "<img src=x" not in page
        assert not re.search(r"<script(?! src=)", page)


@EACH_PART
def test_pages_have_no_inline_script_or_style(pages, ana: Client) -> None:
    remember(ANA, "Ana plays the cello")
    for page in (page for page in pages if "<" not in page.path):
        with taken_back(page.name):
            text = ana.get(reverse(f"webui:{page.name}")).content.decode()
            assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", text)
