"""Markdown of a note makes elements of Markdown, and nothing of it runs, loads or is hidden."""

from html.parser import HTMLParser

import pytest

from apps.webui.notes.markdown import MAX_RENDERED_CHARS, RELATION, render
from tests.hostile.contents import contents_of
from tests.timing import assert_quick

# What Markdown may make, with the attributes that each may have.
ELEMENTS: dict[str, set[str]] = {
    **{f"h{level}": set() for level in range(2, 7)},
    **{tag: set() for tag in ("ul", "li", "blockquote", "hr", "br", "em", "strong", "s", "code")},
    **{tag: set() for tag in ("table", "thead", "tbody", "tr", "th", "td", "summary")},
    "p": {"class"},
    "ol": {"start"},
    "a": {"href", "rel"},
    "div": {"class", "tabindex"},
    "pre": {"class", "tabindex"},
    "details": {"class"},
}  # fmt: skip
CLASSES = {"mh-wide", "mh-info", "mh-front", "mh-text", "mh-all"}


class Made(HTMLParser):
    """What a text became: elements with their attributes, and the text that is shown."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def check(html: str) -> Made:
    """Hold against HTML what Markdown may make."""
    made = Made(html)
    for tag, attrs in made.elements:
        assert tag in ELEMENTS, tag
        assert set(attrs) <= ELEMENTS[tag], attrs
        assert attrs.get("class", "mh-wide") in CLASSES
        if tag == "a":
            assert attrs["rel"] == RELATION
            assert str(attrs["href"]).lower().startswith(("http://", "https://", "mailto:"))
    return made


def test_markdown_makes_its_elements() -> None:
    made = check(
        render(
            "# One\n###### Six\n\n1. *a*\n2. **b**\n\n5) five\n\n> q\n\n---\n`c` ~~d~~\n\n    code\n\n"
            "[site](https://example.org/x) <mailto:ana@example.org>\n\n|a|b|\n|:-|-:|\n|1|2|\n"
        )
    )
    assert {tag for tag, _ in made.elements} == {
        "h2", "h6", "ol", "li", "em", "strong", "blockquote", "p", "hr", "code", "s", "pre", "a", "div", "table",
        "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    assert ("ol", {"start": "5"}) in made.elements


@pytest.mark.parametrize("one", contents_of("md"), ids=lambda one: one.kind)
def test_a_hostile_text_makes_elements_of_markdown_only(one) -> None:
    for text in (one.text, f"- {one.text}", f"# {one.text}", f"|{one.text}|\n|-|\n|{one.text}|", f"```{one.text}\n```"):
        made = check(render(text))
        addresses = "".join(str(attrs.get("href", "")) for _, attrs in made.elements)
        assert one.marker not in one.text or one.marker in made.text + addresses


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "data:text/html,x", "vbscript:x",
        "//elsewhere.invalid/x", "/accounts/logout/", "?x=1", "#main", "https:x", "http:/x", "\\\\elsewhere.invalid",
        "&#106;avascript:alert(1)", "&#x6A;avascript&colon;alert(1)", "javascript&#58;x", "ftp://x", "file:///etc/passwd",
        "about:blank", "blob:x", "\x01javascript:x", "javascript:alert(1)//https://example.org/x", "/x?https://example.org/x",
    ],
)  # fmt: skip
def test_a_link_leads_to_nothing_but_pages_and_mail(address: str) -> None:
    for text in (f"[x]({address})", f"[x](<{address}>)", f"<{address}>", f"![x]({address})", f"[x]\n\n[x]: {address}"):
        assert [tag for tag, _ in check(render(text)).elements if tag == "a"] == []


def test_pictures_are_links_that_load_nothing() -> None:
    made = check(render("![cat](https://example.org/cat.png)"))
    assert [tag for tag, _ in made.elements] == ["p", "a"]


def test_what_markdown_hides_is_shown() -> None:
    hidden = (
        "---\nsecret: front\n---\n\n[x][1]\n\n[1]: https://example.org 'secret title'\n\n```secret info\ncode\n```\n"
    )
    shown = check(render(hidden)).text
    for words in ("secret: front", "secret title", "secret info"):
        assert words in shown
    assert "<!-- secret comment -->" in check(render("a <!-- secret comment -->")).text
    assert "deep" in check(render("> " * 60 + "deep")).text
    assert "deep" in check(render("".join("  " * level + "- a\n" for level in range(60)) + "  " * 60 + "- deep")).text


@pytest.mark.parametrize(
    "part", ["[", "![", "[a](", "*a ", "_*", "`a", "[\n", "|", "> ", "<", "&", "a\n|-|\n", "[[]", "~~a", "- "]
)
def test_no_text_takes_long(part: str) -> None:
    text = part * (MAX_RENDERED_CHARS // len(part))
    assert_quick(lambda _: check(render(text)), "", 5)


def test_a_longer_text_is_shown_as_text() -> None:
    made = check(render("# a\n" * MAX_RENDERED_CHARS))
    assert {tag for tag, _ in made.elements} == {"div", "details", "summary"}
