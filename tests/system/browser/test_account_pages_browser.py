"""Every page of signing in and of one's account in a real browser: nothing is refused, and a passkey works."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.services import password_link
from tests.browser import browser_open
from tests.integration.accounts.signing import PASSWORD, code_of
from tests.system.browser.test_admin_browser import watch

pytestmark = pytest.mark.django_db(transaction=True)

SIGNED_OUT = ("account_login", "account_reset_password", "account_reset_password_from_key_done", "account_inactive")
OWN = (
    "mfa_index", "mfa_view_recovery_codes", "mfa_generate_recovery_codes", "mfa_list_webauthn", "mfa_add_webauthn",
    "mfa_deactivate_totp", "usersessions_list", "account_change_password", "account_logout",
)  # fmt: skip
AUTHENTICATOR = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip
VIOLATIONS = """document.addEventListener("securitypolicyviolation",
  (event) => console.error(`refused ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`))"""


def plug_in(context: BrowserContext, page: Page) -> None:
    """Give a browser an authenticator that confirms everything."""
    session = context.new_cdp_session(page)
    session.send("WebAuthn.enable", {"enableUI": False})
    session.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})


def enter(page: Page, **values: str) -> None:
    for name, value in values.items():
        page.fill(f"[name={name}]", value)
    page.press(f"[name={[*values][-1]}]", "Enter")


def test_pages_of_an_account_have_nothing_refused(live_server: LiveServer, settings: Settings) -> None:
    settings.MFA_TOTP_TOLERANCE = 1
    link = password_link(login=User.objects.create_superuser("ana", password=PASSWORD))
    base = live_server.url.replace("127.0.0.1", "localhost")
    with browser_open() as browser:
        context = browser.new_context(viewport={"width": 390, "height": 844})
        page = context.new_page()
        page.add_init_script(VIOLATIONS)
        complaints = watch(page)
        plug_in(context, page)
        for name in SIGNED_OUT:
            page.goto(base + reverse(name), wait_until="load")
            assert page.locator("h1").count() == 1, name
        page.goto(base + link, wait_until="load")
        page.goto(base + reverse("account_login"))
        enter(page, username="ana", password=PASSWORD)
        page.wait_for_url("**/admin/")
        page.goto(base + reverse("mfa_activate_totp"))
        enter(page, password=PASSWORD)
        page.wait_for_selector("#authenticator_secret")
        enter(page, code=code_of(page.input_value("#authenticator_secret")))
        page.wait_for_selector("#recovery_codes")
        for name in OWN:
            page.goto(base + reverse(name), wait_until="load")
            assert page.locator("h1").count() == 1, name
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
        page.goto(base + reverse("mfa_add_webauthn"))
        page.fill("[name=name]", "phone")
        page.check("[name=passwordless]")
        with page.expect_navigation(wait_until="load"):
            page.click("#mfa_webauthn_add")
        page.goto(base + reverse("mfa_list_webauthn"))
        assert page.get_by_text("phone").count() > 0
        context.clear_cookies()
        page.goto(base + reverse("account_login"))
        page.click("#passkey_login")
        page.wait_for_url("**/admin/")
    assert complaints == []
