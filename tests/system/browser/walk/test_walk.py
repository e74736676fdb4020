"""Every page of a filled hub in a real browser, as each viewer.

A page is sound when the console has no error, the policy of contents refuses nothing, nothing scrolls sideways, and axe
finds nothing of the levels A and AA, in both themes and three widths. Pages of
people, and those to sign in, are walked in both languages.
"""

import pytest
from playwright.sync_api import Browser

from tests.effort import IS_WHOLE_WALK
from tests.system.browser.walk.filled import FilledHub
from tests.system.browser.walk.tour import Tour
from tests.system.browser.walk.visit import Tab

pytestmark = pytest.mark.xdist_group("walk")
# How many pages each of them sees at least: a walk that is sent away sees hardly any.
VIEWERS = {"owner": 140, "reviewer": 30, "person": 8, "visitor": 4}


@pytest.fixture(scope="module")
def examined() -> set[str]:
    """Names of pages that axe has seen."""
    return set()


@pytest.fixture(scope="module")
def answered() -> dict[str, set[str]]:
    """Paths at which each viewer was answered, in the first language: whatever else is refused in any."""
    return {}


# Who reads pages in Chinese as well. What operators see differs in its words alone, so a whole walk looks at that.
IN_CHINESE = ("owner", "person", "visitor") if IS_WHOLE_WALK else ("person", "visitor")
WALKS = [*((viewer, "en-US") for viewer in VIEWERS), *((viewer, "zh-TW") for viewer in IN_CHINESE)]


@pytest.mark.parametrize(("viewer", "locale"), WALKS)
def test_every_page_is_sound(
    filled: FilledHub, browser: Browser, examined: set[str], answered: dict[str, set[str]], viewer: str, locale: str
) -> None:
    context = browser.new_context(locale=locale)
    context.add_cookies(filled.cookies(viewer))
    tab, is_owner = Tab(context.new_page(), language=locale[:2]), viewer == "owner"
    # Longer words may stand where shorter ones were sound.
    examined = examined if locale == "en-US" else set()
    tour = Tour(viewer, filled.base, tab, whole=IS_WHOLE_WALK, is_owner=is_owner, examined=examined)
    known = answered.get(viewer)
    tour.take([page for page in filled.pages if known is None or page.path in known])
    answered[viewer] = tour.answered
    context.close()
    print(f"{viewer} {locale}: {tour.seen_pages} pages, {len(tour.found)} findings")
    assert "\n".join(tour.found) == ""
    assert tour.seen_pages >= VIEWERS[viewer]
