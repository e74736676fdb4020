"""The browser of tests that look at pages: one in a process, started by the first test that opens it."""

import asyncio
import atexit
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:  # A run without pages imports nothing of it.
    from playwright.sync_api import Browser

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NO_BROWSER = "no chromium, chromium-browser or google-chrome in PATH"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


class Chromium:
    """A Chromium, and Playwright that drives it by an event loop in the thread that started it.

    Between tests the thread is free of that loop: Django refuses the database to a thread in which one runs. What the
    browser says meanwhile waits until the loop goes on.
    """

    started: Self | None = None

    def __init__(self) -> None:
        from playwright.sync_api import sync_playwright

        self._process = os.getpid()
        self._driver = sync_playwright().start()
        self._loop = asyncio.get_running_loop()
        atexit.register(self.end)
        try:
            self.browser = self._driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        finally:
            asyncio._set_running_loop(None)

    @classmethod
    def get(cls) -> Self:
        """Return that of this process, another one where it has ended."""
        if cls.started is not None and not cls.started.answers():
            cls.started.end()
            cls.started = None
        cls.started = cls.started or cls()
        return cls.started

    def answers(self) -> bool:
        """Return whether the browser is still there."""
        from playwright.sync_api import Error

        with suppress(Error), self.driven():
            self.browser.new_browser_cdp_session().detach()
            return self.browser.is_connected()
        return False

    @contextmanager
    def driven(self) -> Iterator[None]:
        """Give the thread to the loop, and then back."""
        before = asyncio._get_running_loop()
        asyncio._set_running_loop(self._loop)
        try:
            yield
        finally:
            asyncio._set_running_loop(before)

    def end(self) -> None:
        """End the browser and what drives it, unless this is a fork of the process that started them."""
        if os.getpid() != self._process:
            return
        atexit.unregister(self.end)
        with suppress(Exception), self.driven():
            self._driver.stop()


@contextmanager
def browser_open() -> Iterator["Browser"]:
    """Yield a browser in which nothing is open, and close whatever was opened in it.

    While it is open, the loop of Playwright has this thread. Nobody opens it twice at once, or closes it.
    """
    chromium = Chromium.get()
    with chromium.driven():
        try:
            yield chromium.browser
        finally:
            for context in chromium.browser.contexts:
                context.close()
