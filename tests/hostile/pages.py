"""What a page is made of, as a browser reads it: which part of it a hostile text became."""

import re
from html.parser import HTMLParser

from apps.core.domain.unseen import FOUND
from tests.hostile.contents import MARKER

# Attributes that are only read, by people or by scripts that take them for text.
TEXT_ATTRIBUTES = {
    "title",
    "value",
    "alt",
    "placeholder",
    "label",
    "content",
    "aria-label",
    "aria-description",
    "summary",
}
ADDRESSES = {"href", "src", "action", "formaction", "hx-get", "hx-post", "hx-delete", "cite", "poster", "data"}
# No text is shown in these.
SCRIPTS = {"script", "style"}
EMPTY = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
# Of these characters each is seen, or is white space.
ASCII = re.compile(r"[\t\n\r\x20-\x7e]*")
# What the browser drops before it reads the scheme of an address.
IGNORED = dict.fromkeys(range(0x21))


class PageRead(HTMLParser):
    """Reads a page. made: tags, attributes and addresses that came of a text. unseen: characters that no one sees.

    shown: the markers of texts that it shows as text.
    """

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.made: list[str] = []
        self.unseen: list[str] = []
        self.shown: set[str] = set()
        self.within = self.until = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if MARKER.search(tag):
            self.made.append(f"<{tag}>")
        for name, value in attrs:
            self._read_attribute(tag, name, value or "")
        if tag in SCRIPTS | {"textarea"}:
            self.within = "data" if dict(attrs).get("type") == "application/json" else tag
            self.until = tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.within = self.until = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == self.until:
            self.within = self.until = ""

    def handle_data(self, data: str) -> None:
        self.shown |= set(MARKER.findall(data))
        if not self.within:
            self._look_for_unseen("text", data)
        elif self.within in SCRIPTS and MARKER.search(data):
            self.made.append(f"<{self.within}> {data[:80]}")

    def handle_comment(self, data: str) -> None:
        if MARKER.search(data):
            self.made.append(f"<!--{data[:80]}-->")

    def handle_decl(self, decl: str) -> None:
        if MARKER.search(decl):
            self.made.append(f"<!{decl[:80]}>")

    def unknown_decl(self, data: str) -> None:
        self.handle_decl(data)

    def handle_pi(self, data: str) -> None:
        self.handle_decl(data)

    def _read_attribute(self, tag: str, name: str, value: str) -> None:
        scheme = value.translate(IGNORED).lower()
        is_address = name in ADDRESSES
        if is_address and scheme.startswith(("javascript:", "vbscript:", "data:text", "//", "\\")):
            self.made.append(f"<{tag} {name}={value[:80]}>")
        if MARKER.search(name):
            self.made.append(f"<{tag} {name[:80]}>")
        if not MARKER.search(value):
            return
        self.shown |= set(MARKER.findall(value)) if name in TEXT_ATTRIBUTES else set()
        is_own = is_address and value.startswith(("/", "?", "#"))
        is_read = name in TEXT_ATTRIBUTES and tag != "meta"
        if not (is_own or is_read or name.startswith("data-")):
            self.made.append(f"<{tag} {name}={value[:80]}>")
        if name in TEXT_ATTRIBUTES - {"value", "content"}:
            self._look_for_unseen(name, value)

    def updatepos(self, i: int, j: int) -> int:
        """Count no lines, which nobody asks for, and which takes long on large pages."""
        return j

    def _look_for_unseen(self, place: str, text: str) -> None:
        if ASCII.fullmatch(text):
            return
        self.unseen += [
            f"{place}: {found[0]!r}"[:60] for found in FOUND.finditer(text) if found["unseen"] or found["marks"]
        ]
