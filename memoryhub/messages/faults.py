"""What is wrong with a catalog: words that are missing, left over or untranslated, and what cannot be right."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from babel.messages.catalog import Catalog, Message

from memoryhub.messages.catalogs import key_of, messages_of, mo_bytes, po_bytes, read, renewed, text_of
from memoryhub.messages.places import Place

# What a translation must keep: placeholders of both kinds of formatting, and elements.
KEPT = re.compile(r"%\(\w+\)[a-z]|%[sd]|\{\w*(?:![rsa])?(?::[^{}]*)?\}|</?[a-zA-Z][^<>]*>")
# Half-width punctuation beside a Chinese character; decimal points and addresses stand between other characters.
HALF_WIDTH = re.compile(r"[\u4e00-\u9fff][,;:?!(]|[,;:?!)][\u4e00-\u9fff]|[\u4e00-\u9fff]\.(?:\s|$)")
LETTERS = re.compile(r"[^\W\d_]")
# Full-width punctuation has its blank within it.
FULL_WIDTH = "，、。：；？！（）「」"


def faults_of(places: Iterable[Place]) -> list[str]:
    """Return what is wrong with catalogs, each with its name."""
    seen: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    found: list[str] = []
    for place in places:
        catalog, on_disk = renewed(place), read(place.po)
        found += [f"{place.name}: {fault}" for fault in differences(place, catalog, on_disk)]
        for message in messages_of(catalog):
            found += [f"{place.name}: {fault}" for fault in faults_of_message(message)]
        for message in messages_of(on_disk):
            if text := text_of(message):
                seen[key_of(message)].setdefault(text, place.name)
    for (_context, words), texts in seen.items():
        if len(texts) > 1:
            found.append(f"two translations of {words!r}: {texts}")
    return found


def differences(place: Place, catalog: Catalog, there: Catalog) -> Iterator[str]:
    """Yield how the files of a catalog differ from what its sources say. there: what its file says."""
    wanted = {key_of(message) for message in messages_of(catalog)}
    keys = {key_of(message) for message in messages_of(there)}
    yield from (f"missing {words!r}" for _context, words in sorted(wanted - keys))
    yield from (f"no longer used {words!r}" for _context, words in sorted(keys - wanted))
    if not place.po.exists() or place.po.read_bytes() != po_bytes(catalog):
        yield f"{place.po.name} is out of date"
    if not place.mo.exists() or place.mo.read_bytes() != mo_bytes(there):
        yield f"{place.mo.name} is not that of {place.po.name}"


def faults_of_message(message: Message) -> Iterator[str]:
    """Yield what is wrong with a translation."""
    words, text = message.id, text_of(message)
    said = words if isinstance(words, str) else words[-1]
    if not text:
        yield f"untranslated {key_of(message)[1]!r}"
        return
    if message.fuzzy:
        yield f"fuzzy {said!r}"
    if (lost := sorted(KEPT.findall(said))) != (kept := sorted(KEPT.findall(text))):
        yield f"{said!r} has {lost}, its translation {kept}"
    if LETTERS.search(said) and any(is_apart(said[at]) and not is_apart(text[at]) for at in (0, -1)):
        yield f"blanks around {said!r} differ"
    if HALF_WIDTH.search(KEPT.sub("", text)):
        yield f"punctuation of the other width in {text!r}"
    if strange := simplified(text):
        yield f"{strange!r} in {text!r} is no character of Taiwan"


def is_apart(character: str) -> bool:
    """Return whether a character needs no blank beside it: Chinese is written without."""
    return character.isspace() or character in FULL_WIDTH or "\u4e00" <= character <= "\u9fff"


def simplified(text: str) -> str:
    """Return the Chinese characters of a text that are not those of Taiwan: Big5 has all of them."""
    return "".join(one for one in text if "\u4e00" <= one <= "\u9fff" and not has_big5(one))


def has_big5(character: str) -> bool:
    """Return whether a character is one of Big5 as Taiwan's systems have it."""
    try:
        character.encode("cp950")
    except UnicodeEncodeError:
        return False
    return True
