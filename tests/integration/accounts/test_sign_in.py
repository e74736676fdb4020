"""Signing in: with the right password, with wrong ones, and what the person is shown of them."""

import logging
from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.middleware import AccountPagesMiddleware
from apps.accounts.models import CachedValue, FailedSignIns
from apps.accounts.selectors import sign_in_problems
from apps.accounts.services import account_create, password_link, person_create
from apps.monitor.services import current_problems
from memoryhub.web.server import server_config
from tests.integration.accounts.signing import PASSWORD, is_signed_in, sign_in, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana() -> User:
    return User.objects.create_superuser("ana", password=PASSWORD)


def test_the_admin_leads_to_the_one_page_to_sign_in_and_back(ana: User) -> None:
    client = Client()
    page = client.get("/admin/core/apikey/", follow=True)
    assert page.redirect_chain[-1][0] == "/accounts/login/?next=/admin/core/apikey/"
    assert 'name="username"' in page.content.decode()
    answer = client.post(page.redirect_chain[-1][0], {"username": "ana", "password": PASSWORD})
    assert answer.headers["Location"] == "/admin/core/apikey/"
    assert client.get("/admin/core/apikey/").status_code == 200


def test_wrong_passwords_are_slowed_logged_and_shown(ana: User, caplog: pytest.LogCaptureFixture) -> None:
    client = Client()
    with caplog.at_level(logging.WARNING):
        answers = [sign_in(client, "ana", f"wrong-{n}").status_code for n in range(40)]
    assert answers[:5] == [200] * 5
    assert set(answers[5:]) == {429}
    assert len([one for one in caplog.records if one.name.startswith("apps.accounts")]) == 40
    assert "wrong-" not in caplog.text

    refused = sign_in(client, "ana", PASSWORD)
    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == "300"
    assert "Too many attempts" in refused.content.decode()
    alarm = sign_in_problems()[0]
    assert (alarm.account, alarm.count) == ("ana", 41)
    problem = next(one for one in current_problems() if one.code == "sign_ins_failed")
    assert problem.sentence.startswith("41 sign-ins to the account “ana” failed within a day")

    cache.clear()  # five minutes later
    assert sign_in(client, "ana").status_code == 302
    assert "41 failed sign-ins to your account since" in client.get(reverse("mfa_index")).content.decode()
    client.post(reverse("account_logout"))
    sign_in(client, "ana")
    assert "failed sign-in" not in client.get(reverse("mfa_index")).content.decode()


def test_limits_count_in_the_database_that_all_processes_share(ana: User) -> None:
    for n in range(5):
        sign_in(Client(), "ana", f"wrong-{n}")
    assert CachedValue.objects.filter(cache_key__contains="login_failed").exists()
    assert sign_in(Client(), "ana").status_code == 429


def test_a_name_that_no_account_has_is_counted_without_the_name(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        sign_in(Client(), "my password, typed in the wrong field", "x")
    assert "my password" not in caplog.text
    row = FailedSignIns.objects.get()
    assert (row.login, row.count, row.last_address) == (None, 1, "127.0.0.1")


def test_rows_of_failures_are_one_an_hour_and_go_after_90_days(ana: User) -> None:
    old = timezone.now() - timedelta(days=91)
    FailedSignIns.objects.create(login=ana, hour=old, first_at=old, last_at=old, count=3)
    for n in range(3):
        sign_in(Client(), "ana", f"wrong-{n}")
    assert FailedSignIns.objects.get().count == 3


def test_headers_of_strangers_do_not_change_the_address(ana: User) -> None:
    sign_in(Client(), "ana", "wrong", HTTP_X_FORWARDED_FOR="8.8.8.8", HTTP_X_REAL_IP="8.8.8.8")
    assert FailedSignIns.objects.get().last_address == "127.0.0.1"


def test_the_web_server_reads_the_address_of_a_proxy_only_where_one_is_configured(settings: object) -> None:
    from dataclasses import replace

    config = settings.MEMORYHUB  # type: ignore[attr-defined]
    assert not server_config(replace(config, public_url="http://hub.example.org")).proxy_headers
    assert server_config(replace(config, public_url="https://hub.example.org")).proxy_headers


@pytest.mark.parametrize("path", ["/accounts/signup/", "/accounts/email/", "/accounts/3rdparty/"])
def test_strangers_cannot_sign_up_and_no_mail_is_asked_for(path: str) -> None:
    assert Client().get(path).status_code == 404


def test_a_session_is_signed_out_from_another_browser() -> None:
    here = signed_in("ana", is_superuser=True)
    there = Client(headers={"User-Agent": "Mozilla/5.0 <script>alert(1)</script>"})
    sign_in(there)
    page = here.get(reverse("usersessions_list")).content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert(1)" not in page
    other = UserSession.objects.get(session_key=there.session.session_key)
    here.post(reverse("usersessions_list"), {"session": other.pk})
    assert there.get("/admin/").status_code == 302
    assert here.get("/admin/").status_code == 200


def test_a_session_of_someone_else_cannot_be_signed_out() -> None:
    ana, ben = signed_in("ana", is_superuser=True), signed_in("ben", is_superuser=True)
    theirs = UserSession.objects.get(session_key=ben.session.session_key)
    ana.post(reverse("usersessions_list"), {"session": theirs.pk})
    assert ben.get("/admin/").status_code == 200


def test_a_link_to_choose_a_password_works_once() -> None:
    ana = account_create(username="ana", role="Viewer")
    link, client = password_link(login=ana), Client()
    form = client.get(link)
    new = {"password1": PASSWORD, "password2": PASSWORD}
    assert client.post(form.headers["Location"], new).headers["Location"] == "/accounts/password/reset/key/done/"
    assert "This link no longer works" in Client().get(link).content.decode()
    sign_in(client)
    assert is_signed_in(client)


def test_a_link_ends_when_the_person_signs_in(ana: User) -> None:
    link = password_link(login=ana)
    sign_in(Client())
    assert "This link no longer works" in Client().get(link).content.decode()


def test_an_account_that_is_switched_off_is_out_at_once(ana: User) -> None:
    client = Client()
    sign_in(client)
    User.objects.update(is_active=False)
    assert client.get("/admin/").status_code == 302
    assert sign_in(Client()).headers["Location"] == reverse("account_inactive")


def test_an_account_without_a_role_is_shown_why_and_what_to_ask_for() -> None:
    client = Client()
    for is_staff in (False, True):
        User.objects.create_user(f"ana{is_staff}", password=PASSWORD, is_staff=is_staff)
        sign_in(client, f"ana{is_staff}")
        page = client.get("/admin/", follow=True)
        assert page.status_code == 403
        assert "Your account has no role" in page.content.decode()
        assert "Reviewer" in page.content.decode()
        client.post(reverse("account_logout"))


def test_a_host_in_the_request_gives_no_more_attempts(ana: User) -> None:
    answers = [
        sign_in(Client(REMOTE_ADDR=f"192.0.2.{n}"), "aNa", "wrong", headers={"Host": f"localhost:{4_000 + n}"})
        for n in range(7)
    ]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 2


def test_addresses_by_ipv4_are_counted_apart_on_a_server_by_ipv6(ana: User) -> None:
    for n in range(21):
        sign_in(Client(REMOTE_ADDR="::ffff:192.0.2.7"), f"name {n}", "wrong")
    assert FailedSignIns.objects.get().last_address == "192.0.2.7"
    assert sign_in(Client(REMOTE_ADDR="::ffff:192.0.2.7"), "ana").status_code == 429
    assert sign_in(Client(REMOTE_ADDR="::ffff:192.0.2.8"), "ana").status_code == 302


def test_addresses_of_one_network_by_ipv6_are_counted_together(ana: User) -> None:
    for n in range(20):
        sign_in(Client(REMOTE_ADDR=f"2001:db8::{n:x}"), f"name {n}", "wrong")
    assert sign_in(Client(REMOTE_ADDR="2001:db8::ffff"), "ana").status_code == 429


@pytest.mark.parametrize(
    "wanted",
    [
        "http://localhost/",
        "http://127.0.0.1/",
        "http://[::1]/",
        "//evil.example.org",
        "/\\evil.example.org",
        "javascript:x",
    ],
)
def test_signing_in_leads_to_addresses_of_this_hub_only(ana: User, wanted: str) -> None:
    client = Client()
    assert client.get("/admin/login/", {"next": wanted}).headers["Location"] == "/accounts/login/?next=/admin/"
    answer = client.post(reverse("account_login"), {"username": "ana", "password": PASSWORD, "next": wanted})
    assert answer.headers["Location"] == "/admin/"
    assert client.get("/admin/login/", {"next": wanted}).headers["Location"] == "/admin/"
    assert client.post(reverse("account_logout"), {"next": wanted}).headers["Location"] == "/accounts/login/"


@pytest.mark.parametrize("value", [r'"\000aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"', "a" * 60_000, r'"\303\251"', "A" * 32, ""])
@pytest.mark.parametrize("path", ["/", "/admin/", "/accounts/login/"])
def test_a_cookie_that_is_no_session_is_none(path: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[str] = []
    monkeypatch.setattr(AccountPagesMiddleware, "_note", lambda _, key: noted.append(key))
    answer = Client().get(path, headers={"Cookie": f"sessionid={value}"})
    assert answer.status_code == (302 if path == "/admin/" else 200)
    assert noted == []


def test_pages_of_people_note_when_a_session_was_used(client: Client) -> None:
    person = person_create(username="ana", person_id="ana")
    person.set_password(PASSWORD)
    person.save()
    sign_in(client)
    UserSession.objects.update(last_seen_at=timezone.now() - timedelta(days=1))
    client.get("/")
    assert UserSession.objects.get().last_seen_at > timezone.now() - timedelta(minutes=1)
