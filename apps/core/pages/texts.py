"""Texts of any length on a page: the beginning is shown, the rest on request, and never more than a browser bears."""

from django.template.defaultfilters import truncatechars
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

# What is shown at once, what a page holds at most, what a tooltip holds, and what names a thing.
SHOWN_CHARS, HELD_CHARS, TOOLTIP_CHARS, TITLE_CHARS = 4_000, 200_000, 500, 90


def cut(text: str, chars: int) -> str:
    """Return a text, or its beginning with an ellipsis, in at most so many characters."""
    return text if len(text) <= chars else f"{text[: chars - 1]}…"


def first_words(text: str, chars: int = TITLE_CHARS) -> str:
    """Return the beginning of a text in one line, with an ellipsis where it goes on."""
    return truncatechars(" ".join(text[: 4 * chars].split()), chars)


def long_text(text: str, kind: str = "mh-text", tag: str = "div") -> SafeString:
    """Render a text with its line breaks; of a long one the beginning, and more of it behind a button.

    kind: the class of the element. tag: the element, such as `pre`.
    """
    # A `pre` scrolls, by keyboard as well.
    focus = ' tabindex="0"' if tag == "pre" else ""
    element = f'<{tag} class="{{}}"{focus}>{{}}</{tag}>'
    if len(text) <= SHOWN_CHARS:
        return format_html(element, kind, text)
    words = gettext("Show all %(count)s characters")
    if len(text) > HELD_CHARS:
        words = gettext("Show %(held)s of %(count)s characters; the API has all of them")
    words %= {"held": f"{HELD_CHARS:,}", "count": f"{len(text):,}"}
    return format_html(
        f'{element}<details class="mh-all"><summary>{{}}</summary>{element}</details>',
        *(kind, cut(text, SHOWN_CHARS), words, kind, cut(text, HELD_CHARS)),
    )
