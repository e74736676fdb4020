"""In which order a screen reader and the Tab key go through a person's pages, as Chromium builds it for them."""

from itertools import pairwise
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import CDPSession, Page
from pytest_django.live_server_helper import LiveServer

from apps.webui.navigation import PLACES
from tests.integration.webui.person import ANA, remember
from tests.system.browser.persons import pages_of
from tests.system.browser.test_rules_browser import keep_default

pytestmark = pytest.mark.django_db(transaction=True)
LANDMARKS = {"banner", "navigation", "main", "search", "contentinfo", "complementary", "region"}
NEEDS_A_NAME = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "image", "navigation"}
# What has the focus: its words, where it is from the top, and whether one sees that it has it.
FOCUSED = """(() => {
  const one = document.activeElement, box = one.getBoundingClientRect(), look = getComputedStyle(one);
  return {
    words: (one.getAttribute("aria-label") || one.labels?.[0]?.textContent || one.textContent || "").trim(),
    place: one.closest("main") ? "main" : one.closest("nav") ? "nav" : one.closest("header") ? "header" : "skip",
    top: Math.round(box.top + scrollY), bottom: Math.round(box.bottom + scrollY),
    isSeen: look.outlineStyle !== "none" && box.width > 0,
    isBody: one === document.body,
  };
})()"""


def read_aloud(devtools: CDPSession) -> list[tuple[str, str, int]]:
    """What a screen reader reads, in its order: role, name, and the level of a heading."""
    nodes = {node["nodeId"]: node for node in devtools.send("Accessibility.getFullAXTree")["nodes"]}
    spoken: list[tuple[str, str, int]] = []

    def read(node: dict[str, Any]) -> None:
        if not node.get("ignored"):
            level = next((one["value"]["value"] for one in node.get("properties", []) if one["name"] == "level"), 0)
            spoken.append((node["role"]["value"], node.get("name", {}).get("value", "").strip(), level))
        for child in node.get("childIds", []):
            if child in nodes:
                read(nodes[child])

    read(next(node for node in nodes.values() if "parentId" not in node))
    return spoken


def stops_of(page: Page) -> list[dict[str, Any]]:
    """Where Tab stops, from the top of a page to its end."""
    stops: list[dict[str, Any]] = []
    for _ in range(80):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED)
        if stop["isBody"] or stop in stops:
            return stops
        stops.append(stop)
    raise AssertionError("the page has no end")


def faults_of(spoken: list[tuple[str, str, int]], stops: list[dict[str, Any]]) -> list[str]:
    """What makes no sense in what is read, and where Tab stops."""
    roles = [role for role, _, _ in spoken]
    headings = [(name, level) for role, name, level in spoken if role == "heading"]
    marks = [role for role in roles if role in LANDMARKS]
    faults = [f"{role} without a name" for role, name, _ in spoken if role in NEEDS_A_NAME and not name]
    faults += [f"landmarks: {marks}"] if marks[:3] != ["banner", "navigation", "main"] else []
    faults += [f"one h1, first: {headings}"] if [level for _, level in headings].count(1) != 1 else []
    faults += [f"{name} is no h1" for name, level in headings[:1] if level != 1]
    faults += [f"from h{one} to h{two}" for (_, one), (_, two) in pairwise(headings) if two > one + 1]
    places = [stop["place"] for stop in stops]
    wanted = sorted(places, key=["skip", "header", "nav", "main"].index)
    faults += [f"Tab goes {places}"] if places != wanted else []
    in_main = [stop for stop in stops if stop["place"] == "main"]
    faults += [
        f"Tab jumps up to {two['words'][:40]!r}" for one, two in pairwise(in_main) if two["bottom"] <= one["top"]
    ]
    return faults + [f"focus is not seen on {stop['words'][:40]!r}" for stop in stops if not stop["isSeen"]]


def test_pages_are_read_and_walked_in_an_order_that_makes_sense(live_server: LiveServer) -> None:
    keep_default()
    memory = remember(ANA, "Ana plays the cello")
    remember(ANA, "Ana spent $12 on postcards.")
    remember(ANA, "Ana spent $15 on postcards.")
    found: dict[str, list[str]] = {}
    addresses = [*(reverse(f"webui:{place.name}") for place in PLACES), reverse("webui:memory", args=[memory.uuid])]
    with pages_of(ANA, live_server.url) as page:
        devtools = page.context.new_cdp_session(page)
        devtools.send("Accessibility.enable")
        for address in addresses:
            page.goto(live_server.url + address, wait_until="load")
            spoken = read_aloud(devtools)
            stops = stops_of(page)
            assert stops[0]["words"] == "Skip to the content"
            assert len(stops) > 5
            found |= {address: faults} if (faults := faults_of(spoken, stops)) else {}
    assert found == {}
