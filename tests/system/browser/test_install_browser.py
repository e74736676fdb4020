"""The web UI as an installed app: Chromium finds nothing that keeps it from it, and without a network it says so."""

import json
from pathlib import Path

import pytest
from django.conf import settings
from pytest_django.live_server_helper import LiveServer

from tests.browser import BROWSER, FLAGS, browser_open
from tests.integration.webui.person import ANA, browser_of, remember
from tests.system.browser.test_admin_browser import watch
from tests.system.hub import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

# The text of every answer that a service worker has kept.
KEPT = """(async () => {
  const kept = {};
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) {
      kept[new URL(request.url).pathname] = await (await cache.match(request)).text();
    }
  }
  return kept;
})()"""


def test_it_can_be_installed_and_says_that_the_hub_is_away(live_server: LiveServer, tmp_path: Path) -> None:
    remember(ANA, "Ana plays the cello")
    session = browser_of(ANA).cookies[settings.SESSION_COOKIE_NAME].value
    # With a profile of its own: in a private window nothing can be installed.
    with (
        browser_open() as browser,
        browser.browser_type.launch_persistent_context(
            tmp_path / "profile", executable_path=BROWSER, args=FLAGS, viewport={"width": 390, "height": 844}
        ) as context,
    ):
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        page = context.new_page()
        complaints = watch(page)
        page.goto(live_server.url, wait_until="load")
        wait_for(lambda: page.evaluate("navigator.serviceWorker.controller !== null"), "the worker", patience=20)
        devtools = context.new_cdp_session(page)
        described = devtools.send("Page.getAppManifest")
        assert described["errors"] == []
        assert json.loads(described["data"])["short_name"] == "MemoryHub"
        assert devtools.send("Page.getInstallabilityErrors")["installabilityErrors"] == []
        kept = page.evaluate(KEPT)
        assert sorted(kept) == sorted(["/offline/", "/static/memoryhub/logo.svg", "/static/memoryhub/theme/error.css"])
        assert not any("cello" in text or "ana-signs-in" in text for text in kept.values())
        assert complaints == []
        context.set_offline(True)
        page.goto(f"{live_server.url}/ask/", wait_until="load")
        assert page.locator("h1").inner_text() == "The hub cannot be reached"
        assert page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") == "544px"  # with its style
        context.set_offline(False)
        page.get_by_role("link", name="Try again").click()
        page.wait_for_selector("text=Ana plays the cello")
