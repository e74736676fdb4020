"""A person chooses the language and the time zone of their pages."""

import re
from datetime import UTC, datetime

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Account
from apps.accounts.services import pages_take
from apps.core.db.memberships import ties_make
from apps.core.domain.scope import Scope
from apps.semantic.models import Memory
from tests.integration.webui.person import ANA, BEN, browser_of, remember

pytestmark = pytest.mark.django_db

SETTINGS = "/settings/"


def choose(browser: Client, **chosen: str) -> Account:
    answer = browser.post(SETTINGS, chosen)
    assert answer.status_code == 302
    return Account.objects.get(person_id=ANA)


def shown_at(browser: Client, moment: datetime) -> str:
    """The page of a memory of that moment."""
    memory = remember(ANA, f"Ana has tea at {moment.isoformat()}")
    Memory.objects.filter(pk=memory.pk).update(created_at=moment)
    return browser.get(reverse("webui:memory", args=[memory.uuid])).content.decode()


def test_pages_are_in_the_language_that_was_chosen(ana: Client) -> None:
    assert choose(ana, language="zh-hant", time_zone="").language == "zh-hant"
    page = ana.get(SETTINGS)
    assert page["Content-Language"] == "zh-hant"
    assert "已儲存。" in page.content.decode()
    assert "設定</h1>" in ana.get(SETTINGS).content.decode()
    assert "Settings</h1>" in ana.post(SETTINGS, {"language": "en"}, follow=True).content.decode()


def test_a_choice_changes_no_one_else(ana: Client) -> None:
    ben = browser_of(BEN)
    choose(ana, language="zh-hant", time_zone="Asia/Taipei")
    other = Account.objects.get(person_id=BEN)
    assert (other.language, other.time_zone) == ("", "")
    assert ben.get(SETTINGS)["Content-Language"] == "en"


@pytest.mark.parametrize(
    ("zone", "moment", "words"),
    [
        # The border of a day: still Monday in UTC, Tuesday in Taipei, and Sunday on the other side of the date line.
        ("Asia/Taipei", datetime(2026, 11, 23, 16, 0, tzinfo=UTC), "Nov. 24, 2026, 12:00 AM"),
        ("Asia/Taipei", datetime(2026, 11, 23, 15, 59, tzinfo=UTC), "Nov. 23, 2026, 11:59 PM"),
        ("Pacific/Pago_Pago", datetime(2026, 11, 23, 10, 59, tzinfo=UTC), "Nov. 22, 2026, 11:59 PM"),
        # Clocks go back at 01:00 UTC: the hour from two to three is there twice.
        ("Europe/Berlin", datetime(2026, 10, 25, 0, 30, tzinfo=UTC), "Oct. 25, 2026, 2:30 AM"),
        ("Europe/Berlin", datetime(2026, 10, 25, 1, 30, tzinfo=UTC), "Oct. 25, 2026, 2:30 AM"),
        ("Europe/Berlin", datetime(2026, 10, 25, 2, 30, tzinfo=UTC), "Oct. 25, 2026, 3:30 AM"),
        # And forward: there is no hour from two to three.
        ("Europe/Berlin", datetime(2026, 3, 29, 0, 59, tzinfo=UTC), "March 29, 2026, 1:59 AM"),
        ("Europe/Berlin", datetime(2026, 3, 29, 1, 0, tzinfo=UTC), "March 29, 2026, 3:00 AM"),
        ("", datetime(2026, 11, 23, 16, 0, tzinfo=UTC), "2026-11-23 16:00:00 UTC"),
    ],
)
def test_times_are_those_of_the_zone(ana: Client, zone: str, moment: datetime, words: str) -> None:
    choose(ana, language="", time_zone=zone)
    assert f'title="{words}"' in shown_at(ana, moment)


def test_times_are_written_as_in_the_language(ana: Client) -> None:
    choose(ana, language="zh-hant", time_zone="Asia/Taipei")
    page = shown_at(ana, datetime(2026, 11, 23, 16, 5, tzinfo=UTC))
    assert 'title="2026年11月24日 00:05"' in page
    assert 'datetime="2026-11-24T00:05:00+08:00"' in page


def test_what_is_not_in_the_lists_is_refused(ana: Client) -> None:
    for wrong in ({"language": "xx"}, {"time_zone": "Mars/Olympus"}, {"time_zone": "<script>"}):
        answer = ana.post(SETTINGS, wrong)
        assert answer.status_code == 200
        assert 'aria-invalid="true"' in answer.content.decode()
    account = Account.objects.get(person_id=ANA)
    assert (account.language, account.time_zone) == ("", "")


def test_the_zone_of_the_browser_is_proposed_until_one_is_chosen(ana: Client) -> None:
    assert "data-propose-zone" in ana.get(SETTINGS).content.decode()
    choose(ana, language="", time_zone="Asia/Taipei")
    page = ana.get(SETTINGS).content.decode()
    assert "data-propose-zone" not in page
    assert '<option value="Asia/Taipei" selected>' in page


def test_pages_of_operators_write_the_zone_of_their_reader(ana: Client) -> None:
    account = choose(ana, language="", time_zone="Asia/Taipei")
    account.login.is_superuser = account.login.is_staff = True
    account.login.save()
    Account.objects.filter(pk=account.pk).update(user_id="")
    memory = remember(ANA, "Ana has tea")
    page = ana.get(reverse("admin:semantic_memory_change", args=[memory.pk])).content.decode()
    assert re.search(r"\d\d:\d\d(:\d\d)? CST", page)
    assert " UTC" not in page


def test_a_name_is_shown_instead_of_an_id(ana: Client) -> None:
    assert "<bdi>ana-signs-in</bdi>" in ana.get("/").content.decode()
    choose(ana, name="Ana Lúcia", language="", time_zone="")
    assert "<bdi>Ana Lúcia</bdi>" in ana.get("/").content.decode()
    ties_make([Scope(ANA, "home"), Scope(BEN, "home")], made_by="test", made_at=datetime.now(UTC))
    assert "<bdi>Ana Lúcia</bdi>" in browser_of(BEN).get(reverse("webui:household")).content.decode()


def test_without_a_choice_times_are_those_of_the_browser(ana: Client) -> None:
    remember(ANA, "Ana has tea")
    ana.cookies["time_zone"] = "Asia/Taipei"
    assert "+08:00" in ana.get("/").content.decode()
    ana.cookies["time_zone"] = "Mars/Olympus"
    assert "+08:00" not in ana.get("/").content.decode()


def test_a_name_goes_with_what_is_forgotten(ana: Client) -> None:
    account = choose(ana, name="Ana Lúcia", language="", time_zone="")
    pages_take(person_id=ANA)
    account.login.refresh_from_db()
    assert account.login.get_full_name() == ""
