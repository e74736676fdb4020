"""Words marked for translation, and catalogs of them as files: quiet to merge, and always the same bytes."""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path
from typing import Any

import django
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.apps import apps
from django.utils.translation import override
from django.utils.translation.template import templatize

from memoryhub.messages.places import LANGUAGE, Place, foreign_catalogs

KEYWORDS: dict[str, Any] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "Counted": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
COMMENTS = ("Translators:",)
CALL = re.compile(rb"gettext(?:_lazy|_noop)?\b|\b_\(|\bCounted\(")


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
    """Yield names, help texts and choices of the models of an app (apps/core/model_words.py), and its own `words`."""
    if not apps.ready:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
        django.setup()
    from apps.core.model_words import words_of as words_of_model

    if apps.is_installed(f"apps.{app}"):
        config = apps.get_app_config(app)
        with override(None):
            for model in config.get_models():
                yield from map(Word, words_of_model(model))
            yield from map(Word, getattr(config, "words", set)())


def source_of(file: Path) -> bytes:
    """Return what is read: of a template the calls that Django's own `templatize` makes of it.

    So trimmed blocks, contexts, plurals and comments are what Django looks for when it renders them, and no program
    outside Python is needed (docs/decisions/0060).
    """
    if file.suffix in {".py", ".js"}:
        return file.read_bytes()
    text = file.read_text(encoding="utf-8")
    # Within parentheses no indentation counts.
    return f"(\n{templatize(text, origin=str(file))}\n)".encode() if "{" in text else b""


class HubCatalog(Catalog):
    """A catalog whose header names no date, no person and no version."""

    @property
    def mime_headers(self) -> list[tuple[str, str]]:
        """Return what readers of a catalog need to know."""
        return [
            ("Language", LANGUAGE),
            ("MIME-Version", "1.0"),
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Transfer-Encoding", "8bit"),
            ("Plural-Forms", "nplurals=1; plural=0;"),
        ]


def empty() -> HubCatalog:
    """Return a catalog without words."""
    return HubCatalog(locale=LANGUAGE, header_comment="", fuzzy=False)


def read(file: Path) -> HubCatalog:
    """Return what a file says; an empty catalog where there is no file."""
    found = empty()
    if file.exists():
        with file.open("rb") as source:
            for message in messages_of(read_po(source, locale=LANGUAGE, abort_invalid=True)):
                message.string = fitted(message.string, message)
                found[message.id] = message
    return found


def messages_of(catalog: Catalog) -> list[Message]:
    """Return the words of a catalog without its header."""
    return [message for message in catalog if message.id]


def key_of(message: Message) -> tuple[str, str]:
    """Return what a translation is found by: context and singular."""
    singular = message.id if isinstance(message.id, str) else message.id[0]
    return message.context or "", singular


def wanted(place: Place) -> HubCatalog:
    """Return the words that the sources of a place have, without translations."""
    catalog = empty()
    for word in (*words_of(place.sources), *words_of_models(place.name), *untranslated_elsewhere(place)):
        catalog.add(word.id, context=word.context, auto_comments=word.comments)
    return catalog


def untranslated_elsewhere(place: Place) -> list[Word]:
    """Return the words of packages of others that none of their catalogs translates."""
    if not place.foreign:
        return []
    known: set[str] = set()
    for file in foreign_catalogs():
        with file.open("rb") as source:
            found: dict[Any, str] = GNUTranslations(source)._catalog  # type: ignore[attr-defined]
        known |= {str(key[0] if isinstance(key, tuple) else key) for key, text in found.items() if text}
    words = []
    for word in words_of(place.foreign):
        singular = word.id if isinstance(word.id, str) else word.id[0]
        # As compiled catalogs have it.
        if (f"{word.context}\x04{singular}" if word.context else singular) not in known:
            words.append(word)
    return words


def renewed(place: Place) -> HubCatalog:
    """Return the words of the sources with the translations that the catalog has; what is no longer used is gone."""
    catalog = wanted(place)
    before = {key_of(message): message for message in messages_of(read(place.po))}
    for message in messages_of(catalog):
        old = before.get(key_of(message))
        if old is not None:
            message.string = fitted(old.string, message)
            message.flags |= old.flags & {"fuzzy"}
            message.user_comments = old.user_comments
    return catalog


def fitted(translation: object, message: Message) -> str | tuple[str, ...]:
    """Return a translation in the shape of a message: one form, in a tuple where it has a plural."""
    text = str((translation[0] if isinstance(translation, list | tuple) else translation) or "")
    return (text,) if message.pluralizable else text


def text_of(message: Message) -> str:
    """Return the translation of a message; blank for none."""
    found = message.string[0] if isinstance(message.string, list | tuple) else message.string
    return found or ""


def po_bytes(catalog: Catalog) -> bytes:
    """Return the file that people edit: sorted, without places in sources, each text on one line."""
    target = BytesIO()
    write_po(target, catalog, no_location=True, sort_output=True, ignore_obsolete=True, width=0)
    return target.getvalue()


def mo_bytes(catalog: Catalog) -> bytes:
    """Return the file that Django reads: what is translated and sure."""
    sure = empty()
    for message in messages_of(catalog):
        if text_of(message) and not message.fuzzy:
            sure[message.id] = message
    target = BytesIO()
    write_mo(target, sure)
    return target.getvalue()


def write(place: Place, catalog: Catalog) -> bool:
    """Write both files of a catalog where they say anything else; return whether one did."""
    place.po.parent.mkdir(parents=True, exist_ok=True)
    is_changed = False
    for file, content in ((place.po, po_bytes(catalog)), (place.mo, mo_bytes(catalog))):
        if not file.exists() or file.read_bytes() != content:
            file.write_bytes(content)
            is_changed = True
    return is_changed
