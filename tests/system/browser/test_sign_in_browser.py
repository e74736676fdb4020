"""Signing in with an authenticator app in a real browser."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from tests.browser import browser_open
from tests.integration.accounts.signing import PASSWORD, code_of
from tests.system.browser.test_admin_browser import watch

pytestmark = pytest.mark.django_db(transaction=True)


def enter(page: Page, name: str, value: str) -> None:
    page.fill(f"[name={name}]", value)
    page.press(f"[name={name}]", "Enter")


def test_signing_in_with_an_authenticator_app(live_server: LiveServer, settings: Settings) -> None:
    settings.MFA_TOTP_TOLERANCE = 1
    User.objects.create_superuser("ana", password=PASSWORD)
    base = live_server.url.replace("127.0.0.1", "localhost")
    with browser_open() as browser:
        first, second = browser.new_context().new_page(), browser.new_context().new_page()
        complaints = [watch(page) for page in (first, second)]
        for page in (first, second):
            page.set_viewport_size({"width": 320, "height": 700})
        first.goto(f"{base}/accounts/2fa/totp/activate/")
        first.fill("[name=username]", "ana")
        enter(first, "password", PASSWORD)
        first.wait_for_url("**/reauthenticate/**")
        enter(first, "password", PASSWORD)
        secret = first.input_value("#authenticator_secret")
        enter(first, "code", code_of(secret))
        first.wait_for_selector("#recovery_codes")
        assert first.evaluate("document.documentElement.scrollWidth") <= 320

        second.goto(f"{base}/accounts/sessions/")
        second.fill("[name=username]", "ana")
        enter(second, "password", PASSWORD)
        second.wait_for_url("**/2fa/authenticate/**")
        assert second.evaluate("document.documentElement.scrollWidth") <= 320
        enter(second, "code", code_of(secret, 1))
        second.wait_for_selector("text=This browser")
        second.click("button:has-text('Sign out there')")
        second.wait_for_selector("text=1 session was signed out.")
        first.goto(f"{base}/accounts/2fa/")
        first.wait_for_url("**/accounts/login/**")
    assert complaints == [[], []]
