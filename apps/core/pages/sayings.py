"""Sentences that are made or kept in English, in the language of who reads them.

Reasons of decisions are kept in receipts, and the packages `domain` import no framework, so these sentences exist in
English only. An app lists them as templates, such as `The score %(high)s beats %(low)s.`, marked for the catalogs; a
page recognises a sentence by its template, and shows the translation with the same values. What no template
describes is shown as it is.
"""

import re
from collections.abc import Iterable, Mapping

from django.utils.translation import get_language, gettext

_NAME = re.compile(r"%\((\w+)\)s")
_END = re.compile(r"(?<=[.!?…]) ")
# More sentences than this are one text of a person.
MAX_SENTENCES = 12


class Sayings:
    """Templates of sentences. Values are translated as well where they are one of `words`, or a sentence again."""

    def __init__(self) -> None:
        self.patterns: dict[str, re.Pattern[str]] = {}
        self.words: set[str] = set()

    def add(self, templates: Iterable[str] = (), words: Iterable[str] = ()) -> None:
        """Add templates of sentences, and single words that are shown or are the values of sentences."""
        self.patterns |= {template: _pattern(template) for template in templates}
        self.words |= set(words)

    def say(self, text: str) -> str:
        """Return a text of such sentences in the active language; others as they are, and all of them in English."""
        if not text or get_language() is None:
            return text
        return self._text(text)

    def _text(self, text: str) -> str:
        if (found := self._sentence(text)) is not None:
            return found
        parts = _END.split(text)
        if len(parts) == 1 or len(parts) > MAX_SENTENCES:
            return text
        for count in reversed(range(1, len(parts))):
            head = self._sentence(" ".join(parts[:count]))
            if head is not None:
                return f"{head} {self._text(' '.join(parts[count:]))}"
        return f"{parts[0]} {self._text(' '.join(parts[1:]))}"

    def _sentence(self, text: str) -> str | None:
        if text in self.words:
            return gettext(text)
        for template, pattern in self.patterns.items():
            if found := pattern.fullmatch(text):
                return gettext(template) % self._values(found.groupdict())
        return None

    def _values(self, values: Mapping[str, str]) -> dict[str, str]:
        return {name: self._sentence(value) or value for name, value in values.items()}


# Of the whole hub; an app adds its own when it is ready.
SAYINGS = Sayings()


def say(text: str) -> str:
    """Return sentences that were made or kept in English in the language of the reader; others as they are."""
    return SAYINGS.say(text)


def _pattern(template: str) -> re.Pattern[str]:
    """Return the pattern that recognises a template; a name that occurs again holds the same value."""
    parts, seen = [], set()
    for number, part in enumerate(_NAME.split(template)):
        if number % 2 == 0:
            parts.append(re.escape(part.replace("%%", "%")))
        elif part in seen:
            parts.append(f"(?P={part})")
        else:
            seen.add(part)
            parts.append(f"(?P<{part}>.+?)")
    return re.compile("".join(parts), re.DOTALL)
