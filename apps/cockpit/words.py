"""Texts of pages: whose something is, and the words of a question in a text."""

import regex
from django.template.defaultfilters import truncatechars
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from apps.core.admin.kit import scope_in_words
from apps.core.domain.scope import Scope
from apps.retrieval.domain.text.terms import terms

SHOWN_CHARS = 600
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_]+(?:['’.][\p{L}\p{M}\p{N}_]+)*")


def whose(scope: Scope) -> str:
    """Say whose something is, or of whom something is asked."""
    return scope_in_words(scope) or gettext("everybody")


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
