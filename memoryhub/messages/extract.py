"""Words that are marked for translation in modules, templates and scripts.

Templates are read by Django's own `templatize`, so that trimmed blocks, contexts, plurals and comments are what Django
looks for when it renders them. No program outside Python is needed (docs/decisions/0060).
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import django
from babel.messages.extract import extract
from django.apps import apps
from django.utils.translation import override
from django.utils.translation.template import templatize

KEYWORDS: dict[str, Any] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
COMMENTS = ("Translators:",)
CALL = re.compile(rb"gettext(?:_lazy|_noop)?\b|\b_\(")


@dataclass(frozen=True)
class Word:
    """A text to translate. id: of a plural form the singular and the plural. comments: for translators."""

    id: str | tuple[str, str]
    context: str | None = None
    comments: tuple[str, ...] = ()


def words_of(files: Iterable[Path]) -> Iterator[Word]:
    """Yield the words of files, those that are blank left out. Raises SyntaxError for a template that is none."""
    for file in files:
        kind = "javascript" if file.suffix == ".js" else "python"
        source = source_of(file)
        # Most files have none: looking is much faster than reading.
        found = extract(kind, BytesIO(source), KEYWORDS, COMMENTS) if CALL.search(source) else ()
        for _line, text, comments, context in found:
            words = tuple(text) if isinstance(text, tuple | list) else text
            if words and words[0]:
                yield Word(words, context, tuple(comments))  # type: ignore[arg-type]


def words_of_models(app: str) -> Iterator[Word]:
    """Yield the names, help texts and choices of the models of an app (apps/core/model_words.py)."""
    if not apps.ready:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
        django.setup()
    from apps.core.model_words import words_of as words_of_model

    if apps.is_installed(f"apps.{app}"):
        with override(None):
            for model in apps.get_app_config(app).get_models():
                yield from map(Word, words_of_model(model))


def source_of(file: Path) -> bytes:
    """Return what is read: of a template the calls that templatize makes of it."""
    if file.suffix in {".py", ".js"}:
        return file.read_bytes()
    text = file.read_text(encoding="utf-8")
    # Within parentheses no indentation counts.
    return f"(\n{templatize(text, origin=str(file))}\n)".encode() if "{" in text else b""
