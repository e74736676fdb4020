"""A person has everything forgotten: with days in which it is taken back, in the background, and with a receipt."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Account
from apps.accounts.services import account_bind, account_create, account_set_person
from apps.audit.models import AuditEntry
from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock, utcnow
from apps.core.domain.scope import Scope
from apps.core.models import LockedUser, Pause
from apps.core.pauses import pause_begin
from apps.core.personal.registry import personal_stores
from apps.episodic.models import Segment
from apps.people.downloads.make import downloads_continue
from apps.people.downloads.request import download_request
from apps.people.erasure.run import erasure_run, erasures_continue
from apps.people.leaving import GRACE, erasure_plan, plans_begin
from apps.people.models import Erasure, PlannedErasure
from apps.people.tasks import erase
from apps.semantic.models import Memory
from apps.webui.privacy.forget import STORES
from tests.api import MEMORIES, api_for
from tests.integration.episodic.timeline import Timeline
from tests.integration.people.person import OTHERS, PERSON, WORD, fill, kept_of_others, rows_of_database, traces
from tests.integration.webui.person import browser_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("timeline_dir")]
PAGE, FORGET, BACK = (reverse(f"webui:{name}") for name in ("privacy", "privacy_forget", "privacy_take_back"))
NAME = f"{PERSON}-signs-in"


@pytest.fixture(autouse=True)
def index_dir(settings: Any, tmp_path: Path) -> None:
    settings.SEMANTIC_INDEX_DIR = tmp_path / "semantic-index"


@pytest.fixture
def full(db: None) -> None:
    """Something of the person in every store, a file to download among it, and as much of another one."""
    timeline = Timeline()
    fill(OTHERS[0], "other0word", archive=timeline)
    fill(PERSON, WORD, archive=timeline)
    download_request(user_id=PERSON, language="en", time_zone="UTC")
    downloads_continue()


@pytest.fixture
def person(db: None) -> Client:
    return browser_of(PERSON)


def wish(browser: Client, account: str = "goes", typed: str = NAME) -> str:
    return browser.post(FORGET, {"account": account, "typed": typed}, follow=True).content.decode()


def run_out() -> None:
    """Let the days be over, and the worker come by."""
    PlannedErasure.objects.update(due_at=utcnow(SYSTEM_CLOCK))
    erase()


def receipt_of(page: str) -> str:
    found = re.search(r'href="(/forgotten/[^"]+)"', page)
    assert found is not None
    return found[1]


def later(span: timedelta) -> DeterministicClock:
    return DeterministicClock(round((utcnow(SYSTEM_CLOCK) + span).timestamp() * 1000))


def test_every_store_has_words() -> None:
    assert {store.name for store in personal_stores() if not store.is_settings} <= STORES.keys()


def test_what_would_go_is_counted_first_and_the_name_is_asked_for(person: Client, full: None) -> None:
    page = person.get(FORGET).content.decode()
    for name in ("memories", "events", "conversations", "keys", "downloads"):
        assert str(STORES[name]) in page
    assert "This is not your name" in wish(person, typed=PERSON)
    assert not PlannedErasure.objects.exists()
    assert Memory.objects.filter(user_id=PERSON).count() == 5


def test_until_then_saving_is_paused_and_every_page_says_when(person: Client) -> None:
    api = api_for(Scope())
    api.save("likes tea", user_id=PERSON)
    page = wish(person)
    due = PlannedErasure.objects.get().due_at
    assert due - utcnow(SYSTEM_CLOCK) > GRACE - timedelta(minutes=1)
    assert "Everything about you will be forgotten on" in page
    assert "Everything about you will be forgotten on" in person.get("/").content.decode()
    assert api.post(MEMORIES, {"content": "new", "user_id": PERSON}).json()["errors"][0]["code"] == "saving_paused"
    assert "Take back the forgetting first" in person.post(reverse("webui:go_on"), follow=True).content.decode()
    person.post(reverse("webui:pause"), {"length": "hour"})
    assert Pause.objects.get().until is None
    plans_begin(clock=later(GRACE - timedelta(minutes=5)))
    assert not Erasure.objects.exists()


@pytest.mark.parametrize("paused", [True, False], ids=["paused", "not paused"])
def test_taken_back_it_changes_nothing(person: Client, full: None, paused: bool) -> None:
    if paused:
        pause_begin(user_id=PERSON, until=utcnow(SYSTEM_CLOCK) + timedelta(days=1), actor="person:x")
    quiet = {"audit_auditentry", "django_session", "core_hubprocess", "usersessions_usersession"}
    before = sorted(row for row in rows_of_database() if row[0] not in quiet)
    wish(person)
    assert "Nothing was forgotten" in person.post(BACK, follow=True).content.decode()
    assert sorted(row for row in rows_of_database() if row[0] not in quiet) == before
    plans_begin(clock=later(GRACE * 2))
    assert not Erasure.objects.exists()
    assert "can no longer be taken back" in person.post(BACK, follow=True).content.decode()


def test_with_the_account_nothing_of_the_person_is_left_anywhere(
    person: Client, full: None, downloads_dir: Path
) -> None:
    # The kind of an actor is the id of one of the others.
    before = {table: rows for table, rows in kept_of_others().items() if table != "audit_auditentry"}
    link = receipt_of(wish(person))
    assert "Everything will be removed on" in Client().get(link).content.decode()
    assert list(downloads_dir.iterdir()) != []
    run_out()
    assert traces(PERSON, WORD) == []
    assert list(downloads_dir.iterdir()) == []
    assert {table: rows for table, rows in kept_of_others().items() if table in before} == before
    assert not User.objects.filter(username=NAME).exists()
    page = Client().get(link).content.decode()
    assert "Everything was removed on" in page
    assert "found nothing left" in page
    assert PERSON not in page
    assert person.get("/").status_code == 200
    assert "Sign in" in person.get("/").content.decode()


def test_an_account_that_stays_begins_with_nothing(person: Client, full: None) -> None:
    link = receipt_of(wish(person, "stays"))
    run_out()
    assert traces(WORD) == []
    # Only the name of the account, which has acted, and the row that says whose pages it has.
    assert traces(PERSON) == ["accounts_account", "audit_auditentry", "auth_user"]
    assert not AuditEntry.objects.filter(actor=NAME, action="privacy.forget").exclude(user_id="", detail={}).exists()
    page = person.get("/").content.decode()
    assert "know nothing about you yet" in page
    assert not Pause.objects.exists()
    assert link in person.get(PAGE).content.decode()
    assert "The account stays" in person.get(link).content.decode()
    api_for(Scope()).save("is back", user_id=PERSON)
    assert "is back" in person.get("/").content.decode()
    account = Account.objects.get(login__username=NAME)
    assert (account.user_id, account.person_id) == (PERSON, PERSON)


def test_while_it_runs_an_account_that_stays_sees_how_far_it_is(person: Client, full: None) -> None:
    link = receipt_of(wish(person, "stays"))
    PlannedErasure.objects.update(due_at=utcnow(SYSTEM_CLOCK))
    plans_begin()
    [erasure] = Erasure.objects.all()
    seen: list[str] = []

    def look(step: str) -> None:
        if step == "memories":
            assert person.get("/").url == link
            seen.append(person.get(link, headers={"HX-Request": "true"}).content.decode())

    erasure_run(erasure_id=erasure.pk, step=look)
    assert "Being removed: " in seen[0]
    assert "<html" not in seen[0]
    assert PERSON not in seen[0]


def test_an_account_with_a_role_keeps_no_pages_that_would_widen_it(db: None) -> None:
    remembered = api_for(Scope()).save("likes tea", user_id=PERSON)
    assert remembered
    bound = account_create(username="bound", role="Reviewer", scope=Scope(PERSON))
    account_set_person(login=bound, person_id=PERSON)
    owner = account_create(username="owner", role="Owner")
    account_set_person(login=owner, person_id=PERSON)
    erasure_plan(user_id=PERSON, keeps_account=True, actor="person:x")
    run_out()
    assert not User.objects.filter(username="bound").exists()
    assert Account.objects.get(login=owner).person_id == PERSON
    assert User.objects.get(username="owner").is_staff


def test_what_is_in_the_way_is_tried_again_with_the_same_receipt(person: Client, full: None) -> None:
    link = receipt_of(wish(person, "stays"))
    segment = Segment.objects.filter(state="archived").first()
    assert segment is not None
    Segment.objects.filter(pk=segment.pk).update(state="quarantined", damage="checksum")
    run_out()
    assert not Erasure.objects.exists()
    assert not LockedUser.objects.exists()
    assert Memory.objects.filter(user_id=PERSON).count() == 5
    Segment.objects.filter(pk=segment.pk).update(state="archived", damage="")
    Erasure.objects.create(
        uuid=PlannedErasure.objects.get().uuid, state="refused", digest="x", requested_by="the person",
        requested_at=utcnow(SYSTEM_CLOCK), finished_at=utcnow(SYSTEM_CLOCK),
    )  # fmt: skip
    assert "repair a damaged file" in Client().get(link).content.decode()
    erase()
    assert Memory.objects.filter(user_id=PERSON).count() == 5
    plans_begin(clock=later(timedelta(hours=2)))
    erasures_continue()
    assert "Everything was removed on" in Client().get(link).content.decode()


def test_an_erasure_of_an_operator_ends_the_plan(person: Client, full: None) -> None:
    link = receipt_of(wish(person))
    erasure = Erasure.objects.create(
        user_id=PERSON, digest="x", requested_by="key:operator", requested_at=utcnow(SYSTEM_CLOCK)
    )
    erasure_run(erasure_id=erasure.pk)
    assert not PlannedErasure.objects.exists()
    assert traces(PERSON, WORD) == []
    assert not User.objects.filter(username=NAME).exists()
    assert Client().get(link).status_code == 404
    assert Client().get(reverse("webui:forgotten", args=[erasure.uuid])).status_code == 404


def test_no_other_person_takes_it_back_or_sees_the_date(person: Client) -> None:
    wish(person)
    other = browser_of(OTHERS[0])
    other.post(BACK)
    assert PlannedErasure.objects.filter(user_id=PERSON).exists()
    assert "will be forgotten on" not in other.get("/").content.decode()


def test_who_is_bound_again_meanwhile_is_refused(person: Client, full: None) -> None:
    wish(person, "stays")
    PlannedErasure.objects.update(due_at=utcnow(SYSTEM_CLOCK))
    plans_begin()
    login = account_create(username="late", role="")
    with pytest.raises(Exception, match="being forgotten"):
        account_bind(login=login, scope=Scope(PERSON))
    assert "can no longer be taken back" in person.post(BACK, follow=True).content.decode()
