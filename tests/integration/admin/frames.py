"""The frame that every page of the admin has, read from its HTML."""

import re
from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
FOCUSABLE = {"button", "input", "select", "textarea", "summary"}
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}")

# Menus of widgets, which admin.js names.
WIDGET = "related-widget-wrapper"


class Frame(HTMLParser):
    """The landmarks, headings and the first focusable element of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.lang = self.first_link = ""
        self.mains: list[str] = []
        self.unnamed: list[str] = []
        self.words: dict[str, list[str]] = {"h1": [], "title": []}
        self.is_heading_in_main = False
        self._is_first = True
        self._open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "html":
            self.lang = given.get("lang", "")
        elif tag == "main":
            self.mains.append(given.get("id", ""))
        elif tag == "nav" and not {"aria-label", "aria-labelledby"} & set(given) and WIDGET not in given.get("id", ""):
            self.unnamed.append(given.get("id") or given.get("class", "")[:40])
        elif tag in self.words and "svg" not in self._open:
            self.words[tag].append("")
            self.is_heading_in_main = self.is_heading_in_main or (tag == "h1" and "main" in self._open)
        is_focusable = (tag == "a" and "href" in given) or tag in FOCUSABLE or "tabindex" in given
        if self._is_first and is_focusable and given.get("type") != "hidden" and "body" in self._open:
            self._is_first, self.first_link = False, given.get("href", f"<{tag}>")
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        for tag, words in self.words.items():
            if tag in self._open and words and "svg" not in self._open:
                words[-1] += data

    def faults(self) -> list[str]:
        """What the page lacks of the frame."""
        headings, titles = ([" ".join(one.split()) for one in self.words[tag]] for tag in ("h1", "title"))
        checks = {
            "no language": bool(self.lang),
            f"main: {self.mains}": self.mains == ["mh-main"],
            f"first focusable: {self.first_link}": self.first_link == "#mh-main",
            f"headings: {headings}": len(headings) == 1 and self.is_heading_in_main and headings[0] != "",
            f"titles: {titles}": titles == [f"{one} | MemoryHub" for one in headings],
            f"an id in: {headings}": not any(UUID.search(one.lower()) for one in headings),
            f"navigation without a name: {self.unnamed}": self.unnamed == [],
        }
        return [fault for fault, is_well in checks.items() if not is_well]


def faults_of(html: str) -> list[str]:
    """What a page lacks: one main, a link past the navigation, one h1 that is its title, names of landmarks."""
    return Frame(html).faults()
