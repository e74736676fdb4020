"""What all walks share: one filled hub, and one browser."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser import browser_open
from tests.places import make_directory
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
    """A browser for the walks of a module, which has the loop of this thread until the module ends."""
    with browser_open() as browser:
        yield browser
