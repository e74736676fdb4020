"""A second factor: setting it up, signing in with it, recovery codes, and losing it."""

import re

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import FailedSignIns
from apps.accounts.services import second_factor_reset
from tests.integration.accounts.passkey import registration
from tests.integration.accounts.signing import PASSWORD, code_of, is_signed_in, set_up_app, sign_in, signed_in
from tests.integration.admin.pages import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def tolerant(settings: Settings) -> None:
    """A code stays valid while the clock steps into its next half minute, and so does the code after that.

    The code that set up an app is used: these tests sign in with the next one.
    """
    settings.MFA_TOTP_TOLERANCE = 1


def codes_in(page: str) -> list[str]:
    return re.findall(r"\b\d{8}\b", page)


def test_an_app_is_set_up_and_asked_for(settings: Settings) -> None:
    secret = set_up_app(signed_in("ana", is_superuser=True))
    client = Client()
    assert sign_in(client).headers["Location"] == reverse("mfa_authenticate")
    assert client.get("/admin/").status_code == 302
    wrong = client.post(reverse("mfa_authenticate"), {"code": "000000"})
    assert "Incorrect code" in wrong.content.decode()
    assert FailedSignIns.objects.get().count == 1
    assert client.post(reverse("mfa_authenticate"), {"code": code_of(secret, 1)}).headers["Location"] == "/admin/"
    assert "1 failed sign-in to your account" in client.get(reverse("mfa_index")).content.decode()


def test_a_code_works_once() -> None:
    secret = set_up_app(signed_in("ana", is_superuser=True))
    code, first, second = code_of(secret, 1), Client(), Client()
    for client in (first, second):
        sign_in(client)
        client.post(reverse("mfa_authenticate"), {"code": code})
    assert (is_signed_in(first), is_signed_in(second)) == (True, False)


def test_a_recovery_code_works_once() -> None:
    browser = signed_in("ana", is_superuser=True)
    set_up_app(browser)
    codes = codes_in(browser.get(reverse("mfa_view_recovery_codes")).content.decode())
    assert len(codes) == 10
    for expected in (True, False):
        client = Client()
        sign_in(client)
        client.post(reverse("mfa_authenticate"), {"code": codes[0]})
        assert is_signed_in(client) is expected


def test_guessing_codes_is_slowed() -> None:
    set_up_app(signed_in("ana", is_superuser=True))
    client = Client()
    sign_in(client)
    pages = [client.post(reverse("mfa_authenticate"), {"code": f"{n:06}"}).content.decode() for n in range(8)]
    assert "Too many failed login attempts" in pages[-1]


def test_setting_up_needs_the_password_again() -> None:
    User.objects.create_superuser("ana", password=PASSWORD)
    client = Client()
    sign_in(client)
    answer = client.get(reverse("mfa_activate_totp"))
    assert answer.headers["Location"].startswith(reverse("account_reauthenticate"))


def test_a_lost_second_factor_is_removed_by_an_owner_after_proving_who_they_are() -> None:
    lost = signed_in("ana", is_superuser=True)
    set_up_app(lost)
    ana, owner = User.objects.get(username="ana"), signed_in("owner", is_superuser=True)
    page = reverse("admin:auth_user_reset_second_factor", args=[ana.pk])
    assert "Remove the second factor of ana?" in owner.get(page).content.decode()
    owner.post(page)
    assert not Authenticator.objects.filter(user=ana).exists()
    assert lost.get("/admin/").status_code == 302
    cache.clear()
    client = Client()
    sign_in(client)
    assert is_signed_in(client)

    unproved = Client()
    unproved.force_login(User.objects.get(username="owner"))
    assert unproved.get(page).headers["Location"].startswith(reverse("account_reauthenticate"))


def test_reset_ends_sessions() -> None:
    browser = signed_in("ana", is_superuser=True)
    second_factor_reset(login=User.objects.get())
    assert browser.get("/admin/").status_code == 302


def test_pages_of_a_passkey_are_there(settings: Settings) -> None:
    browser = signed_in("ana", is_superuser=True)
    page = browser.get(reverse("mfa_add_webauthn"), headers={"Host": "localhost"}).content.decode()
    assert "creation_options" in page
    assert "passkey_login" in Client().get(reverse("account_login"), headers={"Host": "localhost"}).content.decode()
    at_number = Client().get(reverse("account_login"), headers={"Host": "127.0.0.1"}).content.decode()
    assert "passkey_login" not in at_number


def test_a_passkey_is_renamed_and_removed() -> None:
    browser = signed_in("ana", is_superuser=True)
    key = {"name": "phone", "credential": registration()}
    one = Authenticator.objects.create(user=User.objects.get(), type=Authenticator.Type.WEBAUTHN, data=key)
    rename, remove = (reverse(f"mfa_{step}_webauthn", args=[one.pk]) for step in ("edit", "remove"))
    assert "phone" in text_of(browser, rename)
    browser.post(rename, {"name": "old phone"})
    assert "old phone" in text_of(browser, reverse("mfa_list_webauthn"))
    text_of(browser, remove)
    browser.post(remove)
    assert not Authenticator.objects.exists()
