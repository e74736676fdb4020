"""Every page of a filled hub in a real browser, as each viewer.

A page is sound when the console has no error, the policy of contents refuses nothing, nothing scrolls sideways, and axe
finds nothing of the levels A and AA, in both themes and three widths.
"""

import pytest
from playwright.sync_api import Browser

from tests.effort import IS_WHOLE_WALK
from tests.system.browser.test_admin_browser import BROWSER
from tests.system.browser.walk.filled import FilledHub
from tests.system.browser.walk.tour import Tour
from tests.system.browser.walk.visit import Tab

pytestmark = [
    pytest.mark.xdist_group("walk"),
    pytest.mark.skipif(BROWSER is None, reason="no chromium, chromium-browser or google-chrome in PATH"),
]
# How many pages each of them sees at least: a walk that is sent away sees hardly any.
VIEWERS = {"owner": 140, "reviewer": 30, "person": 8, "visitor": 4}


@pytest.fixture(scope="module")
def examined() -> set[str]:
    """Names of pages that axe has seen."""
    return set()


@pytest.mark.parametrize("viewer", VIEWERS)
def test_every_page_is_sound(filled: FilledHub, browser: Browser, examined: set[str], viewer: str) -> None:
    context = browser.new_context()
    context.add_cookies(filled.cookies(viewer))
    tab, is_owner = Tab(context.new_page()), viewer == "owner"
    tour = Tour(viewer, filled.base, tab, whole=IS_WHOLE_WALK, is_owner=is_owner, examined=examined)
    tour.take(filled.pages)
    context.close()
    print(f"{viewer}: {tour.opened} pages, {len(tour.found)} findings")
    assert "\n".join(tour.found) == ""
    assert tour.opened >= VIEWERS[viewer]
