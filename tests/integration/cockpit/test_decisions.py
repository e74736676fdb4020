"""The queue of decisions: what is shown to whom, each step, undo, all alike, saved views, presence."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.models import Account
from apps.audit.models import AuditEntry
from apps.cockpit.models import Presence
from apps.core.domain.scope import Scope, system_access
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import IS_ASKED, Conflict, Memory
from apps.semantic.selectors import person_facts
from apps.semantic.services import conflict_accept, memory_save, open_conflicts
from tests.integration.admin.conftest import operator as operator
from tests.integration.admin.conftest import staff as staff

pytestmark = pytest.mark.django_db

PAGE, LIST = reverse("cockpit_decisions"), reverse("cockpit_decisions_list")
ACT, UNDO, VIEWS = (reverse(f"cockpit_decisions_{name}") for name in ("act", "undo", "views"))
PRESENCE, ACCEPT_ALIKE = reverse("cockpit_decisions_presence"), reverse("cockpit_decisions_accept_alike")
LISBON, NOT_LISBON = "Ana lives in Lisbon.", "Ana does not live in Lisbon."
POSTCARDS = ("Ana spent $12 on postcards.", "Ana spent $15 on postcards.")
HOSTILE = "<script>alert(1)</script>\" onmouseover='alert(2)' {{ 7|add:7 }}"
SEE, REVIEW, READ = "view_conflict", "change_conflict", "view_memory"
JSON = {"Accept": "application/json"}
Decide = Callable[..., Conflict]


@pytest.fixture
def decide() -> Decide:
    """Save two memories that disagree, and return the receipt."""

    def save(
        first: str = LISBON, second: str = NOT_LISBON, user: str = "ana", household: str | None = None
    ) -> Conflict:
        for content in (first, second):
            draft = MemoryDraft(content, scope=Scope(user, household))
            result = memory_save(access=system_access("test"), draft=draft)
        return Conflict.objects.get(uuid=result.conflict)

    return save


@pytest.fixture
def reviewer(client: Client) -> Client:
    """A browser of a reviewer who is bound to the household home."""
    user = User.objects.create_user("rita", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=[SEE, REVIEW, READ]))
    Account.objects.create(login=user, household_id="home")
    client.force_login(user)
    return client


def shown(client: Client, url: str = PAGE, **query: Any) -> str:
    response = client.get(url, query)
    assert response.status_code == 200
    return response.content.decode()


def listed(client: Client, **query: Any) -> list[int]:
    response = client.get(LIST, query)
    assert response.status_code == 200
    return [row.pk for row in response.context["rows"]]


def detail(receipt: Conflict) -> str:
    return reverse("cockpit_decision", args=[receipt.pk])


def act(client: Client, step: str, *receipts: Conflict, seen: str = "open") -> dict[str, Any]:
    data = {"step": step, "receipt": [f"{one.pk}:{seen}" for one in receipts]}
    response = client.post(ACT, data, headers=JSON)
    assert response.status_code == 200, response.content
    found: dict[str, Any] = json.loads(response.content)
    return found


def undo(client: Client, token: str) -> dict[str, Any]:
    response = client.post(UNDO, {"token": token}, headers=JSON)
    assert response.status_code == 200, response.content
    found: dict[str, Any] = json.loads(response.content)
    return found


def active() -> list[str]:
    return list(Memory.objects.active().order_by("id").values_list("content", flat=True))


def state(receipt: Conflict) -> str:
    receipt.refresh_from_db()
    return receipt.state


def test_page_shows_list_pair_and_receipt(operator: Client, decide: Decide) -> None:
    receipt = decide()
    text = shown(operator)
    for expected in ("The candidate wins", "<ins>", "Signals", "mh-threshold", "Receipt", "default", str(receipt.uuid)):
        assert expected in text
    assert "is active again, exactly as before" in text


def test_empty_queue_says_so(operator: Client) -> None:
    assert "No decisions are waiting for review." in shown(operator)
    assert "You have not reviewed anything here." in shown(operator, view="mine")


def test_contents_need_permission_to_view_memories(staff: Callable[..., Client], decide: Decide) -> None:
    receipt = decide()
    browser = staff(SEE)
    for url in (PAGE, LIST, detail(receipt)):
        assert "Lisbon" not in shown(browser, url)
    assert listed(browser, q="Lisbon") == [receipt.pk]  # words filter nothing for those who may not read them
    assert "data-step" not in shown(browser, detail(receipt))


@pytest.mark.parametrize("codenames", [(), (READ,), (REVIEW,)])
def test_queue_needs_permission_to_view_conflicts(
    staff: Callable[..., Client], decide: Decide, codenames: tuple[str, ...]
) -> None:
    receipt, browser = decide(), staff(*codenames)
    for url in (PAGE, LIST, detail(receipt)):
        assert browser.get(url).status_code == 403
    assert browser.post(PRESENCE).status_code == 403


def test_deciding_needs_permission_to_change_conflicts(staff: Callable[..., Client], decide: Decide) -> None:
    receipt, browser = decide(), staff(SEE, READ)
    assert browser.post(ACT, {"step": "accept", "receipt": f"{receipt.pk}:open"}).status_code == 403
    assert browser.post(UNDO, {"token": "x"}).status_code == 403
    assert browser.get(reverse("cockpit_decisions_alike", args=[receipt.pk])).status_code == 403
    assert browser.post(ACCEPT_ALIKE, {"token": "x"}).status_code == 403
    assert state(receipt) == "open"


@pytest.mark.parametrize(
    ("step", "after", "now"),
    [
        ("accept", [NOT_LISBON], "accepted"),
        ("existing", [LISBON], "overridden"),
        ("both", [LISBON, NOT_LISBON], "overridden"),
        ("revert", [LISBON], "reverted"),
    ],
)
def test_step_applies_at_once_and_is_undone_exactly(
    operator: Client, decide: Decide, step: str, after: list[str], now: str
) -> None:
    receipt = decide()
    said = act(operator, step, receipt)
    assert (active(), state(receipt), said["done"], said["refused"]) == (after, now, [receipt.pk], [])
    assert listed(operator) == []
    assert listed(operator, view="mine") == [receipt.pk]
    assert undo(operator, said["undo"])["restored"] == [receipt.pk]
    assert (active(), state(receipt), receipt.reviewed_by, receipt.reviewed_at) == ([NOT_LISBON], "open", "", None)
    assert (listed(operator), listed(operator, view="mine")) == ([receipt.pk], [])


def test_several_chosen_are_decided_newest_first_and_undone_as_one(operator: Client, decide: Decide) -> None:
    first, second = decide(), decide(LISBON, NOT_LISBON, "ben")
    said = act(operator, "revert", first, second)
    assert (said["done"], said["sentence"]) == ([second.pk, first.pk], "Reverted: 2 decisions.")
    assert undo(operator, said["undo"])["restored"] == [first.pk, second.pk]
    assert {state(first), state(second)} == {"open"}


def test_mine_offers_undo_to_the_one_who_reviewed_only(operator: Client, decide: Decide) -> None:
    receipt, other = decide(), decide(user="ben")
    act(operator, "accept", receipt)
    conflict_accept(access=system_access("admin:rita"), uuid=other.uuid)
    assert listed(operator, view="mine") == [receipt.pk]
    assert "Undo this review" in shown(operator, detail(receipt))
    assert "Undo this review" not in shown(operator, detail(other))
    assert "admin:rita" in shown(operator, detail(other))


def test_second_of_two_people_reads_who_was_first(operator: Client, decide: Decide) -> None:
    receipt = decide()
    conflict_accept(access=system_access("admin:rita"), uuid=receipt.uuid)
    said = act(operator, "accept", receipt)
    assert (said["done"], said["undo"]) == ([], None)
    assert "rita got there first. It was accepted at" in said["refused"][0]["reason"]
    assert state(receipt) == "accepted"
    assert receipt.reviewed_by == "admin:rita"


def test_token_of_undo_works_for_its_account_only(
    operator: Client, decide: Decide, staff: Callable[..., Client]
) -> None:
    receipt = decide()
    token = act(operator, "accept", receipt)["undo"]
    colleague = staff(SEE, REVIEW)
    for bad in (token, f"{token}x", "", "a:b:c"):
        assert colleague.post(UNDO, {"token": bad}, headers=JSON).status_code == 400
    assert state(receipt) == "accepted"


def test_undo_is_refused_with_the_reason(operator: Client, decide: Decide) -> None:
    receipt = decide()
    token = act(operator, "existing", receipt)["undo"]
    Memory.objects.filter(pk=receipt.existing.pk).update(status="deleted")
    said = undo(operator, token)
    assert (said["restored"], state(receipt)) == ([], "overridden")
    assert "is deleted now" in said["refused"][0]["reason"]


@pytest.mark.parametrize(
    "data",
    [
        {"step": "accept"},
        {"step": "destroy", "receipt": "1:open"},
        {"step": "accept", "receipt": "1:gone"},
        {"step": "accept", "receipt": "9" * 30 + ":open"},
        {"step": "accept", "receipt": "²:open"},
        {"step": "accept", "receipt": [f"{number}:open" for number in range(101)]},
    ],
)
def test_nonsense_is_refused(operator: Client, data: dict[str, Any]) -> None:
    assert operator.post(ACT, data, headers=JSON).status_code == 400


def test_buttons_work_without_the_script(operator: Client, decide: Decide) -> None:
    receipt = decide()
    data = {"step": "accept", "receipt": f"{receipt.pk}:open", "next": "https://example.org/"}
    response = operator.post(ACT, data)
    assert (response.status_code, response.headers["Location"]) == (302, PAGE)
    assert "Accepted." in shown(operator)
    assert state(receipt) == "accepted"


def test_views_show_and_count_what_they_name(operator: Client, decide: Decide) -> None:
    decided, noticed = decide(), decide(*POSTCARDS)
    Conflict.objects.filter(pk=decided.pk).update(confidence=0.6)
    assert listed(operator, view="weak") == [decided.pk]
    assert listed(operator, view="noticed") == [noticed.pk]
    assert listed(operator, view="merged") == []
    assert listed(operator, rule="default") == [noticed.pk, decided.pk]
    assert listed(operator, user="ben") == []
    assert listed(operator, q="postcards $12") == [noticed.pk]
    assert listed(operator, view="no such\x00") == [noticed.pk, decided.pk]
    tabs = {tab["title"]: tab["count"] for tab in operator.get(PAGE).context["views"]}
    assert tabs == {"To decide": "2", "Noticed": "1", "Not certain": "1", "Log": None, "Merged": None, "Mine": "0"}
    assert [(tab["title"], tab["count"]) for tab in operator.get(PAGE).context["rules"]] == [("default", "2")]


def test_certain_decisions_are_a_log_that_can_be_undone_and_nobody_is_asked(operator: Client, decide: Decide) -> None:
    certain, asked = decide(), decide(user="ben")
    Conflict.objects.filter(pk=certain.pk).update(confidence=0.61)
    Conflict.objects.filter(pk=asked.pk).update(confidence=0.6)
    assert listed(operator) == [asked.pk]
    assert open_conflicts(system_access("test")) == 1
    assert person_facts(system_access("test"), ["ana", "ben"])["ana"].open_decisions == 0
    assert listed(operator, view="log") == listed(operator, view="log", rule="default") == [certain.pk]
    text = shown(operator, view="log")
    assert "You need not accept anything" in text
    assert [(tab["title"], tab["count"]) for tab in operator.get(PAGE, {"view": "log"}).context["rules"]] == [
        ("default", None)
    ]
    said = act(operator, "revert", certain)
    assert (said["done"], listed(operator, view="log")) == ([certain.pk], [])
    undo(operator, said["undo"])
    assert listed(operator, view="log") == [certain.pk]


def test_counting_what_waits_reads_the_index_of_it(decide: Decide) -> None:
    certain = decide()
    decide(user="ben")
    rows = [replica(certain, confidence=0.9) for _ in range(2_000)]
    Conflict.objects.bulk_create(rows)
    waits = Conflict.objects.filter(IS_ASKED, state="open").order_by("-id").values("id")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE semantic_conflict")
    assert "semantic_conflict_asked" in waits.explain()


def replica(conflict: Conflict, **changed: Any) -> Conflict:
    """Return an unsaved copy of a conflict."""
    fields = {field.attname: getattr(conflict, field.attname) for field in Conflict._meta.concrete_fields}
    return Conflict(**{**fields, "id": None, "uuid": uuid4(), **changed})


def test_filters_are_saved_counted_and_removed(operator: Client, decide: Decide) -> None:
    decide(user="ana")
    operator.post(VIEWS, {"name": "Of ana", "user": "ana", "view": "asked"})
    operator.post(VIEWS, {"name": HOSTILE, "q": HOSTILE})
    text = shown(operator)
    assert HOSTILE not in text
    saved = operator.get(PAGE, {"user": "ana"}).context["saved"]
    assert [(tab["title"], tab["count"], tab["is_current"]) for tab in saved] == [
        ("Of ana", "1", True),
        (HOSTILE[:40], None, False),
    ]
    for number in range(8):
        operator.post(VIEWS, {"name": f"view {number}", "user": "ben"})
    assert len(operator.get(PAGE).context["saved"]) == 8
    operator.post(VIEWS, {"remove": "Of ana"})
    assert "Of ana" not in [tab["title"] for tab in operator.get(PAGE).context["saved"]]


def test_all_alike_are_accepted_after_five_were_shown_and_undone_as_one(operator: Client, decide: Decide) -> None:
    same = [decide(user=f"user {number}") for number in range(7)]
    noticed = decide(*POSTCARDS)
    assert "Accept all 7 like this" in shown(operator, detail(same[0]))
    response = operator.get(reverse("cockpit_decisions_alike", args=[same[0].pk]))
    assert (response.context["count"], len(response.context["samples"])) == (7, 5)
    assert operator.post(ACCEPT_ALIKE, {"token": "forged"}, headers=JSON).status_code == 400
    said = operator.post(ACCEPT_ALIKE, {"token": response.context["token"]}, headers=JSON).json()
    assert (said["count"], said["is_last"]) == (7, True)
    assert {state(one) for one in same} == {"accepted"}
    assert state(noticed) == "open"
    assert undo(operator, said["undo"])["count"] == 7
    assert {(state(one), one.reviewed_by) for one in same} == {("open", "")}


def test_bound_reviewer_sees_and_decides_about_the_household_only(reviewer: Client, decide: Decide) -> None:
    own, foreign = decide(household="home"), decide(user="ben", household="cabin")
    assert listed(reviewer) == [own.pk]
    assert "ben" not in shown(reviewer)
    assert listed(reviewer, household="cabin") == []
    assert [tab["count"] for tab in reviewer.get(PAGE).context["views"]] == ["1", "0", "1", None, None, "0"]
    for url in (detail(foreign), reverse("cockpit_decisions_alike", args=[foreign.pk])):
        assert reviewer.get(url).status_code == 404
    assert foreign.user_id not in shown(reviewer, PAGE, receipt=foreign.pk)
    said = act(reviewer, "accept", own, foreign)
    assert (said["done"], [one["reason"] for one in said["refused"]]) == (
        [own.pk],
        ["It no longer exists, and neither do its memories."],
    )
    assert state(foreign) == "open"


def test_bound_reviewer_accepts_all_alike_of_the_household_only(reviewer: Client, decide: Decide) -> None:
    own = [decide(user=f"user {number}", household="home") for number in range(2)]
    foreign = decide(user="ben", household="cabin")
    response = reviewer.get(reverse("cockpit_decisions_alike", args=[own[0].pk]))
    assert response.context["count"] == 2
    reviewer.post(ACCEPT_ALIKE, {"token": response.context["token"]}, headers=JSON)
    assert [state(one) for one in (*own, foreign)] == ["accepted", "accepted", "open"]


def test_presence_is_seen_by_those_who_may_see_the_decision_and_expires(
    operator: Client, decide: Decide, reviewer: Client
) -> None:
    own, foreign = decide(household="home"), decide(user="ben", household="cabin")
    other = Client()
    other.force_login(User.objects.get(username="operator"))

    def lookers(client: Client, receipt: Conflict | None) -> Any:
        return client.post(PRESENCE, {"receipt": receipt.pk if receipt else ""}).json()["lookers"]

    assert lookers(other, foreign) == {}
    assert lookers(reviewer, own) == {}
    assert lookers(other, own) == {str(own.pk): ["rita"]}
    assert lookers(reviewer, foreign) == {str(own.pk): ["operator"]}
    assert not Presence.objects.filter(login__username="rita").exists()
    lookers(reviewer, own)
    assert not AuditEntry.objects.filter(action__contains="presence").exists()
    Presence.objects.update(seen_at=F("seen_at") - timedelta(seconds=21))
    assert lookers(other, None) == {}


def test_hostile_contents_are_escaped_everywhere(operator: Client, decide: Decide) -> None:
    receipt = decide(f"{HOSTILE} lives in Lisbon.", f"{HOSTILE} does not live in Lisbon.", HOSTILE[:40])
    urls = (PAGE, LIST, detail(receipt), reverse("cockpit_decisions_alike", args=[receipt.pk]))
    for url in urls:
        text = shown(operator, url)
        assert "<script>alert(1)" not in text
        assert "&lt;script&gt;" in text


def test_pages_cost_the_same_with_many_decisions(operator: Client, decide: Decide) -> None:
    receipt = decide()
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            shown(operator)
        counts.append(len(queries))
        for number in range(6):
            decide(user=f"user {number}")
    assert counts[1] <= counts[0] + 1
    assert counts[1] < 45
    with CaptureQueriesContext(connection) as queries:
        shown(operator, detail(receipt))
    assert len(queries) < 30
