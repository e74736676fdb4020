"""The page *Audit*: filters, pages, differences, a download, and what a bound account sees."""

import csv
import io
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import Account
from apps.audit.domain.csv import defused
from apps.audit.models import AuditEntry
from apps.audit.services import record, write_entries
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope

pytestmark = pytest.mark.django_db
PAGE, HOSTILE = "/admin/audit/", '<script>alert(1)</script>"onmouseover="x'


@pytest.fixture
def viewer(client: Client) -> Callable[..., Client]:
    def sign_in(**bound: str) -> Client:
        user = User.objects.create_user("vera", is_staff=True)
        user.user_permissions.set(Permission.objects.filter(codename="view_auditentry"))
        if bound:
            Account.objects.create(login=user, **bound)
        client.force_login(User.objects.get(pk=user.pk))
        return client

    return sign_in


def act(**fields: Any) -> AuditEntry:
    return record(**{"actor_kind": "person", "actor": "rita", "action": "memory.delete", **fields})


def shown(client: Client, **query: str) -> str:
    answer = client.get(PAGE, query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_filters_narrow_the_list(viewer: Callable[..., Client]) -> None:
    browser = viewer()
    act(object_id="first-one", scope=Scope("ana"))
    act(actor="kitchen", actor_kind="key", action="keys.create", outcome="refused", object_id="second-one")
    for query, first, second in (
        ({}, True, True),
        ({"words": "KITCH"}, False, True),
        ({"actor": "rita"}, True, False),
        ({"kind": "key"}, False, True),
        ({"action": "memory.delete"}, True, False),
        ({"outcome": "refused"}, False, True),
        ({"user_id": "ana"}, True, False),
        ({"object_id": "second-one"}, False, True),
        ({"since": "2001-01-01", "until": "2001-01-02"}, False, False),
        ({"since": "2001-01-01"}, True, True),
        ({"kind": "nothing", "since": "not a day", "place": "older-9-x"}, True, True),
    ):
        page = shown(browser, **query)
        assert ("first-one</" in page, "second-one</" in page) == (first, second), query


def test_pages_follow_each_other_and_nothing_is_left_out(viewer: Callable[..., Client]) -> None:
    browser, now = viewer(), utcnow(SYSTEM_CLOCK)
    write_entries(
        AuditEntry(at=now - timedelta(seconds=n // 3), actor_kind="hub", actor="hub", action="x.y", object_id=f"n{n}.")
        for n in range(120)
    )
    seen: list[int] = []
    query, pages = {}, 0
    while True:
        answer = browser.get(PAGE, query)
        seen += [row["entry"].pk for row in answer.context["rows"]]
        pages += 1
        if not answer.context["older"]:
            break
        query = {"place": answer.context["older"].partition("place=")[2]}
    ours = [pk for pk in seen if AuditEntry.objects.get(pk=pk).actor == "hub"]
    assert (pages, len(ours), len(set(seen))) == (3, 120, len(seen))
    back = browser.get(PAGE, {"place": answer.context["newer"].partition("place=")[2]})
    assert [row["entry"].pk for row in back.context["rows"]] == seen[50:100]


def test_a_page_costs_the_same_with_many_entries(viewer: Callable[..., Client]) -> None:
    browser = viewer()
    act()
    shown(browser)  # the first request of a session notes when it was used
    costs = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            shown(browser)
        costs.append(len(queries))
        for number in range(30):
            act(object_id=str(number), object_type="auth.group")
    assert costs[0] == costs[1]


def test_what_is_stored_is_escaped_and_changes_are_a_difference(viewer: Callable[..., Client]) -> None:
    browser = viewer()
    act(
        actor=HOSTILE,
        object_id=HOSTILE,
        detail={"changes": {HOSTILE: ["old", HOSTILE]}, "said": HOSTILE, "name": HOSTILE},
    )
    page = shown(browser, words=HOSTILE)
    assert "<script>alert" not in page
    assert "1 field changed" in page
    assert "&lt;script&gt;" in page


def test_a_bound_account_sees_only_what_is_about_its_scope(viewer: Callable[..., Client]) -> None:
    act(object_id="of-home", scope=Scope("ana", "home"))
    act(object_id="of-nobody")
    act(object_id="of-others", scope=Scope("ben", "other"))
    browser = viewer(household_id="home")
    for page in (shown(browser), browser.get(f"{PAGE}list/").content.decode()):
        assert "of-home" in page
        assert "of-nobody" not in page
        assert "of-others" not in page
    assert "of-others" not in shown(browser, user_id="ben")
    lines = b"".join(browser.get(f"{PAGE}csv/").streaming_content).decode()  # type: ignore[arg-type]
    assert "of-home" in lines
    assert "of-others" not in lines


def test_without_the_permission_there_is_no_page(client: Client) -> None:
    client.force_login(User.objects.create_user("colleague", is_staff=True))
    for path in (PAGE, f"{PAGE}list/", f"{PAGE}csv/"):
        assert client.get(path).status_code == 403
    client.logout()
    assert client.get(PAGE).status_code == 302


def test_the_download_has_the_filter_and_no_formula_and_is_recorded(viewer: Callable[..., Client]) -> None:
    browser = viewer()
    act(actor='=HYPERLINK("http://example.org")', object_id="+1", action="wanted.act")
    act(action="other.act")
    answer = browser.get(f"{PAGE}csv/", {"action": "wanted.act"})
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))  # type: ignore[arg-type]
    assert [(row["actor"], row["object_id"]) for row in rows] == [('\'=HYPERLINK("http://example.org")', "'+1")]
    assert AuditEntry.objects.latest("pk").action == "audit.csv"


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\t=1", "\r=1", " =1", "\n=1"])
def test_a_cell_that_a_spreadsheet_would_calculate_is_defused(text: str) -> None:
    assert defused(text) == f"'{text}"
    assert defused(f"a{text}") == f"a{text}"


def test_an_empty_audit_says_what_will_be_there(viewer: Callable[..., Client]) -> None:
    browser = viewer(household_id="nowhere")
    assert "Nothing recorded yet" in shown(browser)
    assert "No entry matches" in shown(browser, actor="x")
