"""What all walks share: one filled hub, and one browser."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.places import make_directory
from tests.system.browser.test_admin_browser import BROWSER, FLAGS
from tests.system.browser.walk.filled import FilledHub


@pytest.fixture(scope="session")
def filled() -> Iterator[FilledHub]:
    """A hub with something on every page."""
    place = make_directory()
    hub = FilledHub.start(place)
    yield hub
    hub.end()
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for the walks of a module. Playwright drives one at a time in a process, so it ends with the module."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield started
        started.close()
