"""Pages on which every character can be seen, and no text moves what is beside it.

All text of the hub's own templates is plain, so what is unseen or written from right to left comes from what is stored.
It is marked in the finished page: no template, widget or form of any app can forget it.
"""

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from apps.core.domain.unseen import FOUND, code_points, is_plain, name_of, visible

# Of one text: in longer ones a mark is a few characters, and no element of thirty.
MAX_CHARS = 50_000

_CONTROLS = bytes(code for code in (*range(0x20), 0x7F) if code not in b"\t\n\r")
_TAG = re.compile(r"<!--.*?-->|<(?P<close>/?)(?P<name>[A-Za-z][^\s/>]*)(?:\"[^\"]*\"|'[^']*'|[^'\">])*>", re.DOTALL)
_READ_ATTRIBUTE = re.compile(
    r"(?P<name>\s(?:title|alt|placeholder|label|data-label|aria-label|aria-description)=)(?P<value>\"[^\"]*\"|'[^']*')"
)
# Kept as they are: scripts and styles, and what a form would send back.
_KEPT = {"script", "style", "textarea"}
# Marked without elements, which these cannot hold.
_PLAIN = {"title", "option", "svg", "math"}

_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001eeff"
_BETWEEN = r"\s\d.,:;!?()\-\u2013\u2014'%/\u200c\u200d\u0300-\u036f"
_RUN = re.compile(f"[{_RIGHT_TO_LEFT}]+(?:[{_BETWEEN}]*[{_RIGHT_TO_LEFT}]+)*")


def _mark(found: re.Match[str]) -> str:
    """Return the element that shows a run of unseen characters, or letters of another alphabet inside a word."""
    if run := found["unseen"]:
        return f'<span class="mh-unseen" title="{name_of(run)}">[{code_points(run)}]</span>'
    if run := found["marks"]:
        return f'<span class="mh-unseen" title="More marks on one letter">[+{len(run)} marks]</span>'
    if run := found["behind"] or found["before"]:
        return f'<span class="mh-mixed" title="Of another alphabet: {name_of(run)}">{run}</span>'
    return found[0]


def _show_text(text: str) -> str:
    if is_plain(text):
        return text
    return visible(text) if len(text) > MAX_CHARS else FOUND.sub(_mark, _RUN.sub(r"<bdi>\g<0></bdi>", text))


def _show_tag(tag: str) -> str:
    return tag if is_plain(tag) else _READ_ATTRIBUTE.sub(lambda found: found["name"] + visible(found["value"]), tag)


def show_unseen(page: str) -> str:
    """Return a page of HTML in which unseen characters are marks, and runs from right to left are isolated."""
    parts: list[str] = []
    end, inside = 0, ""
    for tag in _TAG.finditer(page):
        text, name = page[end : tag.start()], (tag["name"] or "").lower()
        end = tag.end()
        is_kept = inside in _KEPT
        parts.append(text if is_kept else visible(text) if inside else _show_text(text))
        parts.append(tag[0] if is_kept else _show_tag(tag[0]))
        if inside:
            inside = "" if tag["close"] and name == inside else inside
        elif name in _KEPT | _PLAIN and not tag["close"]:
            inside = name
    parts.append(_show_text(page[end:]))
    return "".join(parts)


class SeenMiddleware:
    """Marks what is unseen on every page, after whatever made it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        if is_page and isinstance(response, HttpResponse):
            content = response.content
            if not content.isascii() or len(content.translate(None, _CONTROLS)) != len(content):
                response.content = show_unseen(content.decode()).encode(errors="replace")
        return response
