"""Texts of pages: times with their zone, the first words of a text, and the words of a question in it."""

from datetime import datetime

import regex
from django.template.defaultfilters import truncatechars
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from apps.core.admin.kit import NOTHING
from apps.core.domain.scope import Scope
from apps.core.pages.times import exact
from apps.retrieval.domain.text.terms import terms

SHOWN_CHARS = 600
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_]+(?:['’.][\p{L}\p{M}\p{N}_]+)*")


def zoned(value: datetime | None) -> str:
    """Format a time with its zone; a dash for none."""
    return exact(value) if value else NOTHING


def first_words(text: str, chars: int = 90) -> str:
    """Return the beginning of a text in one line."""
    return truncatechars(" ".join(text[: 4 * chars].split()), chars)


def whose(scope: Scope) -> str:
    """Say whose something is, or of whom something is asked."""
    return named_ids(scope) or gettext("everybody")


def named_ids(scope: Scope) -> str:
    """Say which ids a scope names, `user ana, household home`; empty for none."""
    said = {
        "user_id": gettext("user %(id)s"),
        "household_id": gettext("household %(id)s"),
        "persona_id": gettext("persona %(id)s"),
    }
    return ", ".join(said[name] % {"id": value} for name, value in scope.named().items())


def mark_words(text: str, wanted: frozenset[str], chars: int = SHOWN_CHARS) -> SafeString:
    """Render a text, shortened, with the words marked whose terms are wanted."""
    text = truncatechars(text, chars)
    parts: list[tuple[SafeString | str]] = []
    end = 0
    for found in _WORD.finditer(text):
        if wanted.isdisjoint(terms(found[0])):
            continue
        parts += [(text[end : found.start()],), (format_html("<mark>{}</mark>", found[0]),)]
        end = found.end()
    return format_html_join("", "{}", [*parts, (text[end:],)])
