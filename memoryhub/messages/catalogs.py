"""Catalogs as files: quiet to merge, and always the same bytes."""

from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from memoryhub.messages.extract import Word, words_of, words_of_models
from memoryhub.messages.places import LANGUAGE, Place, foreign_catalogs


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
