"""Markdown of notes as HTML: the elements of Markdown and nothing else (docs/decisions/0062).

HTML in a note is text. Links lead to http, https and mailto only, pictures are links, and what Markdown would hide,
such as definitions of links and the languages of code, is shown.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from apps.core.pages.texts import long_text
from apps.notes.domain.text import front_matter_end

# The slowest text of this length takes a second; a longer one is shown as text.
MAX_RENDERED_CHARS = 40_000
# What is nested more deeply would be left out, so such a text is shown as text.
MAX_DEPTH = 20
# `https:a` would be an address of this hub, so both slashes are asked for.
_LINK = re.compile(r"(?:https?://|mailto:)\S+", re.IGNORECASE)
RELATION = "nofollow noopener noreferrer"
# A page has one heading of the first level.
_LOWER = {f"h{level}": f"h{min(6, level + 1)}" for level in range(1, 7)}


class Renderer(RendererHTML):
    """Renders tokens without the attributes that a text could choose, but for addresses of links."""

    def renderToken(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:  # noqa: N802
        token = tokens[idx]
        token.tag = _LOWER.get(token.tag, token.tag)
        kept: dict[str, str | int | float] = {
            name: value for name, value in token.attrs.items() if name in {"href", "start"}
        }
        token.attrs = {**kept, "rel": RELATION} if "href" in kept else kept
        element = super().renderToken(tokens, idx, options, env)
        if token.tag != "table":
            return element
        return f'<div class="mh-wide" tabindex="0">{element}' if token.nesting > 0 else f"{element}</div>"

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        info, tokens[idx].info = tokens[idx].info.strip(), ""
        said = f'<p class="mh-info">{escapeHtml(info)}</p>' if info else ""
        return said + super().fence(tokens, idx, options, env)


@cache
def parser() -> MarkdownIt:
    """Return the parser: CommonMark with tables and strikethrough, without HTML, pictures and definitions of links."""
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_DEPTH}, renderer_cls=Renderer)
    made.enable(["table", "strikethrough"]).disable(["image", "reference", "html_block", "html_inline"])
    made.validateLink = is_link  # type: ignore[method-assign, assignment]
    return made


def is_link(address: str) -> bool:
    """Return whether a link may lead to an address."""
    return _LINK.fullmatch(address) is not None


def render(text: str) -> SafeString:
    """Render a note. What is before the text, between lines of hyphens, is shown as it is written."""
    text = text.removeprefix("\ufeff")
    if len(text) > MAX_RENDERED_CHARS:
        return long_text(text)
    ahead = len(text.encode()[: front_matter_end(text.encode())].decode())
    tokens = parser().parse(text[ahead:])
    if any(token.level >= MAX_DEPTH - 1 for token in tokens):
        return long_text(text)
    front = long_text(text[:ahead].strip(), "mh-front", "pre") if ahead else ""
    return mark_safe(front + parser().renderer.render(tokens, parser().options, {}))  # noqa: S308 - escaped by it
