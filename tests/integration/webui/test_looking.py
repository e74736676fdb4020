"""An operator looks at the pages of a person: for a reason that the person reads, for a while, and in no other way."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from apps.accounts.services import account_bind, account_create
from apps.audit.models import AuditEntry
from apps.audit.services import record
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission, Scope
from apps.people.downloads.request import download_request
from apps.people.looking import MOST
from apps.people.models import Download, Look
from apps.people.personal.stores import LookStore
from apps.semantic.models import Memory
from apps.webui.person import Person
from apps.webui.table import PAGES
from tests.integration.webui.person import ANA, BEN, remember, taken_back
from tests.integration.webui.test_pages import address

pytestmark = pytest.mark.django_db

LOOK, STOP = reverse("cockpit_person_look"), reverse("cockpit_person_look_stop")
WHY, WORD = "Ana asked for help with a duplicate", "quinceown"


def staff(role: str = "Operator", scope: Scope = Scope(), name: str = "olga") -> Client:  # noqa: B008 - frozen
    browser = Client()
    browser.force_login(account_create(username=name, role=role, scope=scope))
    return browser


def look(browser: Client, person: str = ANA, reason: str = WHY) -> Any:
    return browser.post(LOOK, {"user_id": person, "reason": reason})


@pytest.fixture
def memory(db: None) -> Memory:
    return remember(ANA, f"{WORD} likes tea")


def test_no_page_opens_without_a_look_and_none_takes_a_form_with_one(memory: Memory) -> None:
    browser, pages = staff("Owner"), [page for page in PAGES if not page.is_public]
    for page in pages:
        url = address(page.name, memory)
        with taken_back(page.name):
            for answer in (browser.get(url), browser.post(url)):
                assert WORD not in answer.content.decode()
                assert answer.status_code == (200 if url == "/" else 403)
            assert look(browser).url == "/"
            before = list(Memory.objects.values())
            for method in ("post", "put", "patch", "delete", "options"):
                answer = getattr(browser, method)(url)
                assert answer.status_code == 403
                assert "You’re viewing another person’s pages" in answer.content.decode()
            assert browser.get(url).status_code in ({403} if page.is_own else {200, 404, 405})
            assert list(Memory.objects.values()) == before
    assert len(pages) > 70


def test_who_looks_may_read_what_is_of_the_person_and_write_nothing() -> None:
    access = Person(ANA, "olga", Look()).access
    assert (access.bound, access.actor) == (Scope(ANA), "admin:olga")
    assert access.allows(Permission.READ)
    assert not access.allows(Permission.WRITE)


def test_who_when_why_and_which_pages_are_for_the_person_to_read(memory: Memory, ana: Client) -> None:
    browser = staff()
    look(browser)
    page = browser.get("/").content.decode()
    assert WORD in page
    assert "You’re viewing the pages of <bdi>ana</bdi>" in page
    assert "Stop viewing" in page
    browser.get(reverse("webui:memory", args=[memory.uuid]))
    for _ in range(2):
        browser.get(reverse("webui:home_latest"))
    assert browser.post(STOP).url.endswith("user_id=ana")
    assert WORD not in browser.get("/").content.decode()
    acts = list(AuditEntry.objects.filter(user_id=ANA, actor="olga").order_by("pk").values_list("action", "object_id"))
    assert acts == [
        ("person_look.begin", ""),
        ("person_look.open", "/"),
        ("person_look.open", f"/memories/{memory.uuid}/"),
        ("person_look.end", ""),
    ]
    read = ana.get(reverse("webui:privacy_looked")).content.decode()
    for words in ("olga", WHY, "started viewing your pages", "opened your page “Home”", "opened one of your memories"):
        assert words in read
    assert reverse("webui:memory", args=[memory.uuid]) in read


def test_who_looked_lists_others_only(ana: Client) -> None:
    for actor in (f"person:{ANA}", f"{ANA}-signs-in", "olga"):
        record(actor_kind="person", actor=actor, action="person.open", scope=Scope(ANA))
    read = ana.get(reverse("webui:privacy_looked")).content.decode()
    assert read.count("opened the page about you in the admin") == 1
    assert "olga" in read


def test_a_look_ends_after_half_an_hour(memory: Memory) -> None:
    browser = staff()
    look(browser)
    now = utcnow(SYSTEM_CLOCK)
    assert timedelta(0) < Look.objects.get().until - now <= MOST
    Look.objects.update(until=now)
    assert WORD not in browser.get("/").content.decode()
    assert browser.get(reverse("webui:memory", args=[memory.uuid])).status_code == 403


@pytest.mark.parametrize("role", ["Viewer", "Reviewer"])
def test_a_role_that_may_not_look_sees_no_way_there(role: str, memory: Memory) -> None:
    browser = staff(role)
    assert look(browser).status_code == 403
    assert not Look.objects.exists()
    assert "View their pages" not in browser.get(reverse("cockpit_person"), {"user_id": ANA}).content.decode()
    assert "View their pages" in staff(name="oskar").get(reverse("cockpit_person"), {"user_id": ANA}).content.decode()


@pytest.mark.parametrize("scope", [Scope(BEN), Scope(household_id="home"), Scope(ANA, "home")])
def test_a_bound_that_has_not_all_of_the_person_shows_no_page(scope: Scope, memory: Memory) -> None:
    assert look(staff("Owner", scope)).status_code in {403, 404}
    assert not Look.objects.exists()


def test_what_is_taken_from_an_operator_ends_the_look_at_once(memory: Memory) -> None:
    browser = staff()
    look(browser)
    assert WORD in browser.get("/").content.decode()
    login = User.objects.get(username="olga")
    account_bind(login=login, scope=Scope(BEN))
    assert WORD not in browser.get("/").content.decode()
    account_bind(login=login, scope=Scope())
    assert WORD in browser.get("/").content.decode()
    login.groups.set([Group.objects.get(name="Viewer")])
    assert WORD not in browser.get("/").content.decode()


def test_a_look_is_of_one_account_in_one_browser(memory: Memory) -> None:
    browser, other = staff(), staff(name="oskar")
    look(browser)
    assert WORD not in other.get("/").content.decode()
    session = other.session
    session["looks_at_pages"] = browser.session["looks_at_pages"]
    session.save()
    assert WORD not in other.get("/").content.decode()


@pytest.mark.parametrize("reason", ["", "   ", "x" * 301])
def test_a_look_needs_a_reason(reason: str, memory: Memory) -> None:
    browser = staff()
    assert "Say why" in look(browser, reason=reason).content.decode()
    assert not Look.objects.exists()


def test_the_file_with_everything_is_not_for_who_looks(memory: Memory) -> None:
    browser = staff()
    asked = download_request(user_id=ANA, language="en", time_zone="UTC")
    Download.objects.update(state="ready", until=utcnow(SYSTEM_CLOCK) + timedelta(days=1))
    look(browser)
    assert browser.get(reverse("webui:privacy_file", args=[asked.uuid])).status_code == 403


def test_no_page_is_shown_when_its_entry_cannot_be_written(memory: Memory, monkeypatch: Any) -> None:
    browser = staff()
    look(browser)

    def fail(**_: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr("apps.people.looking.record", fail)
    browser.raise_request_exception = False
    answer = browser.get("/")
    assert answer.status_code == 500
    assert WORD not in answer.content.decode()


def test_looks_are_forgotten_with_the_person(memory: Memory) -> None:
    look(staff())
    assert LookStore().count(ANA) == 1
    assert list(LookStore().find(ANA)) == ["people_look"]
    assert list(LookStore().forget(ANA)) == [1]
    assert list(LookStore().find(ANA)) == []


def test_the_list_of_who_looked_has_pages_and_no_line_of_others(ana: Client) -> None:
    for number in range(60):
        AuditEntry.objects.create(
            at=utcnow(SYSTEM_CLOCK) + timedelta(seconds=number), actor_kind="person", actor=f"operator{number:02}x",
            action="person.open", user_id=ANA if number % 10 else BEN,
        )  # fmt: skip
    url, seen = reverse("webui:privacy_looked"), ""
    while url:
        page = ana.get(url).content.decode()
        seen += page
        url = url.split("?")[0] + page.split('href="?')[1].split('"')[0].join(["?", ""]) if 'href="?' in page else ""
    for number in range(60):
        assert seen.count(f"operator{number:02}x") == (1 if number % 10 else 0)
