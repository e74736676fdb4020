"""How soon a person sees something of a page, in a real Chromium, and how much it loads for that."""

import shutil
import statistics
import time
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.test import Client

from apps.accounts.services import person_create
from apps.core.domain.scope import Scope, system_access
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.services import memories_purge, memory_save_many
from benchmarks.texts import synthetic_texts

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
PHONE = {"width": 390, "height": 844}
PAINT_SECONDS = 20.0
PAINT = "(performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime"


class NoBrowserError(Exception):
    """There is no Chromium, or no Playwright to drive it."""


def measure_pages(base: str, paths: Sequence[str], memories: int, rounds: int) -> dict[str, Any]:
    """Return the first contentful paint of pages of a person who has some memories, and the bytes of each page.

    Each round has an empty cache of its own; one before them warms the server up. Raises NoBrowserError.
    """
    person = f"bench-{uuid4()}"
    access = system_access("bench")
    drafts = [MemoryDraft(text, scope=Scope(person)) for text in synthetic_texts(memories, seed=29)]
    memory_save_many(access=access, drafts=drafts)
    login = person_create(username=person, person_id=person)
    client = Client()
    client.force_login(login)
    try:
        return _measured(base, paths, client.cookies[settings.SESSION_COOKIE_NAME].value, rounds)
    finally:
        login.delete()
        memories_purge(access=access, scope=Scope(person))


def _measured(base: str, paths: Sequence[str], session: str, rounds: int) -> dict[str, Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise NoBrowserError("Playwright is missing: `uv sync --group dev`.") from error
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        raise NoBrowserError(f"None of {', '.join(CHROMIUM)} is in PATH.")
    figures: dict[str, list[tuple[float, int]]] = {path: [] for path in paths}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        for number in range(rounds + 1):
            for path in paths:
                with browser.new_context(viewport=PHONE) as context:  # type: ignore[arg-type]
                    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": base}])
                    measured = _paint(context, base + path)
                if number:
                    figures[path].append(measured)
        browser.close()
    return {path: summary(measured) for path, measured in figures.items()}


def _paint(context: Any, url: str) -> tuple[float, int]:
    """Return the milliseconds until something of a page was painted, and the bytes that it has loaded."""
    page, sizes = context.new_page(), []
    devtools = context.new_cdp_session(page)
    devtools.on("Network.loadingFinished", lambda one: sizes.append(one["encodedDataLength"]))
    devtools.send("Network.enable")
    page.goto(url, wait_until="load")
    until = time.monotonic() + PAINT_SECONDS
    while (paint := page.evaluate(PAINT)) is None and time.monotonic() < until:
        time.sleep(0.05)
    return float(paint), round(sum(sizes))


def summary(measured: Sequence[tuple[float, int]]) -> dict[str, float]:
    """Return the median and the worst paint in milliseconds, and the most bytes."""
    paints = [paint for paint, _ in measured]
    return {
        "median_ms": round(statistics.median(paints)),
        "worst_ms": round(max(paints)),
        "bytes": max(size for _, size in measured),
    }
