"""A language of tests, in which every translated text is between ⟦ and ⟧, and the words of a page that are outside.

What is outside and no data was never marked for translation. Data is in elements that say so, or is stored.
"""

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from django.apps import apps
from django.db import models
from django.utils import translation
from django.utils.safestring import SafeData, mark_safe

from apps.monitor.services import forget_recent_problems

BEGIN, END = "⟦", "⟧"
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
# Elements within a sentence; any other one ends what a lost mark has begun.
INLINE = {"a", "abbr", "b", "bdi", "code", "em", "i", "kbd", "small", "span", "strong", "time", "var"}
DATA = {"code", "pre", "samp", "kbd", "var", "bdi", "script", "style", "textarea", "template"}
READ = ("title", "aria-label", "aria-description", "aria-roledescription", "placeholder", "alt", "data-label", "label")
# Words that are the same in every language.
NAMES = re.compile(
    r"\b(?:MemoryHub|API|APIs|REST|URL|JSON|CSV|HTML|Markdown|YAML|MEMORY|curl|Python|Django|PostgreSQL|Redis|SQLite|HNSW|GitHub"
    r"|OpenAI|Anthropic|Basic Memory|Claude Code|Claude|Ollama|Git|BM25|ID|ids?|UTC|GMT|CPU|RAM|TOTP|WebAuthn|URI"
    r"|HTTP|HTTPS|SQL|UUID|SHA|PEP"
    r"|ms|min|s|h|px|B|KB|kB|MB|GB|KiB|MiB|GiB|TiB|tok|EUR|USD|Ctrl|Alt|Shift|Esc|Enter|Tab|Home|End|K|AM|PM"
    r"|English|HTMX|IP|IPv4|IPv6|POST|GET|PUT|PATCH|DELETE|Cron|webhook|token|tokens|ChatGPT|LLM|FIFO|MiniLM|p50|p95|p99)\b"
)
# What programs are called by: it holds a sign or a digit that words do not.
UUID = r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"  # which may begin with a word
IDENTIFIER = re.compile(
    UUID + r"|"
    r"[\w$#%<>{}\[\]@]*(?:[\w\]})>*][_/@=.:#\\+]+[\w\[{(<*]|\d|_|/)[\w$#%<>{}\[\]@./:=*+\\-]*"
)
LETTERS = re.compile(r"[^\W\d_]{2,}")


def pseudo(patch: pytest.MonkeyPatch) -> None:
    """Put marks around everything that is translated."""
    forget_recent_problems()  # in words that were not marked
    trans = translation._trans

    def marking(real: Callable[..., str]) -> Callable[..., str]:
        def marked(*args: Any) -> str:
            text = real(*args)
            if not text.strip():
                return text
            found = f"{BEGIN}{text}{END}"
            return mark_safe(found) if isinstance(text, SafeData) else found

        return marked

    for name in ("gettext", "ngettext", "pgettext", "npgettext"):
        patch.setattr(trans, name, marking(getattr(trans, name)))
    # Sentences that are kept in English are shown as they are to those who read English.
    patch.setattr("apps.core.pages.sayings.get_language", lambda: "pseudo")


class Outside(HTMLParser):
    """The words of a page that are outside marks, each with whether it is in the main part."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[bool, str]] = []
        self._open: list[tuple[str, bool]] = []
        self._depth = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        is_data = tag in DATA or given.get("translate") == "no" or given.get("dir") == "auto"
        is_data = is_data or "material-symbols-outlined" in given.get("class", "")
        if tag not in VOID:
            self._open.append((tag, is_data))
        if tag not in INLINE:
            self._depth = 0
        if not is_data and not self._is_data:
            is_button = tag == "input" and given.get("type") in {"submit", "button", "reset"}
            names = [*READ, "value"] if is_button else READ
            for name in names:
                self._note(outside(given.get(name, ""))[0])
            if tag == "meta" and given.get("name") in {"description", "application-name"}:
                self._note(outside(given.get("content", ""))[0])

    def handle_endtag(self, tag: str) -> None:
        if tag not in INLINE:
            self._depth = 0
        if any(tag == one for one, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        text, self._depth = outside(data, self._depth)
        if not self._is_data:
            self._note(text)

    @property
    def _is_data(self) -> bool:
        return any(is_data for _, is_data in self._open)

    def _note(self, text: str) -> None:
        text = " ".join(text.split())
        if LETTERS.search(text):
            self.found.append((any(tag == "main" for tag, _ in self._open), text))


def outside(text: str, depth: int = 0) -> tuple[str, int]:
    """Return what of a text is outside marks, and how many marks are open at its end."""
    parts: list[str] = []
    for part in re.split(f"([{BEGIN}{END}])", text):
        if part == BEGIN:
            depth += 1
            parts.append(" ")
        elif part == END:
            depth = max(0, depth - 1)
        elif not depth:
            parts.append(part)
    return "".join(parts), depth


def stored_texts() -> set[str]:
    """Return the texts that the database holds, without those of a choice, and of tables that migrations fill."""
    found: set[str] = set()
    for model in apps.get_models():
        if model._meta.app_label in {"contenttypes", "sessions", "admin"} or model._meta.label in {
            "auth.Permission", "auth.Group",
        }:  # fmt: skip
            continue
        fields = [field.name for field in model._meta.fields if is_text(field)]
        for row in model._default_manager.values_list(*fields) if fields else ():
            found |= {text for value in row for text in texts_in(value)}
    return found


def is_text(field: Any) -> bool:
    """Whether a column may hold what somebody wrote."""
    kinds = (models.CharField, models.TextField, models.JSONField)
    return (isinstance(field, kinds) or hasattr(field, "base_field")) and not getattr(field, "choices", None)


def texts_in(value: Any, is_inside: bool = False) -> Iterator[str]:
    """The texts of a value; of those inside others only sentences, since codes and words of states are no texts."""
    if isinstance(value, str):
        text = " ".join(value.split())
        if len(text) > 1 and (not is_inside or " " in text):
            yield text
    elif isinstance(value, dict):
        for one in value.values():
            yield from texts_in(one, is_inside=True)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts_in(one, is_inside=not isinstance(one, str))


def untranslated(html: str, stored: set[str], names: tuple[str, ...] = ()) -> list[tuple[bool, str]]:
    """Return the words of a page that are neither translated nor data: whether they are in its main part, and they."""
    long = [text for text in stored if " " in text]
    return [(in_main, text) for in_main, text in Outside(html).found if not is_known(text, stored, long, names)]


def is_known(text: str, stored: set[str], long: list[str], names: tuple[str, ...]) -> bool:
    """Whether a text is stored, begins or is within a stored one, or has no words of a language."""
    bare = text.strip(" …·,.:;()|—-+×\"'“”")
    if bare in stored or (" " in bare and any(bare in one for one in long)):
        return True
    left = NAMES.sub(" ", IDENTIFIER.sub(" ", text))
    for name in names:
        left = left.replace(name, " ")
    pieces = [piece.strip(" …\"'“”()") for piece in re.split(r"[·,|:;&()—→]|\s-\s", left)]
    return all(
        not LETTERS.search(piece) or piece in stored or (" " in piece and any(piece in one for one in long))
        for piece in pieces
    )
