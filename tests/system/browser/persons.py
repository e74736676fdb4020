"""A person who is signed in, in a real browser."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from playwright.sync_api import Page

from tests.browser import browser_open
from tests.integration.webui.person import browser_of

PHONE = {"width": 320, "height": 640}


@contextmanager
def pages_of(person: str, base: str, *, locale: str = "en-US", scripts: bool = True) -> Iterator[Page]:
    """Yield a page of a small phone on which a person is signed in.

    While it is open, the loop of the browser has this thread: write to the database with `elsewhere`.
    """
    session = browser_of(person).cookies[settings.SESSION_COOKIE_NAME].value
    with browser_open() as browser:
        context = browser.new_context(
            viewport={"width": PHONE["width"], "height": PHONE["height"]},
            color_scheme="dark",
            locale=locale,
            java_script_enabled=scripts,
        )
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": base}])
        yield context.new_page()
