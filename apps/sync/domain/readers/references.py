"""References to other items, as people write them: ids, numbers, links, paths and lists of these."""

import posixpath
import re
from collections.abc import Iterable

from apps.sync.domain.readers.text import MAX_REFERENCE_CHARS, MAX_REFERENCES, MAX_STATUS_CHARS, clean

EXTENSIONS = (".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc")
LINK = re.compile(r"\[([^\[\]]{0,300})\](?:\(\s{0,5}<?([^()<>\s]{0,600})>?[^()]{0,300}\)|\[[^\[\]]{0,100}\])")
RST_LINK = re.compile(r":[a-z]{2,10}:`([^`<>]{1,300})`|`([^`<>]{0,300})<([^`<>]{1,600})>`_{1,2}")
DATE = re.compile(r"\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b(?![-\w])")
NUMBERED = re.compile(r"([^\W\d_]{1,12})[\s_#№:-]{0,3}(\d{1,6})", re.IGNORECASE)
NUMBER = re.compile(r"#?(\d{1,6})\.?")
SLUG = re.compile(r"[\w.-]{0,200}\d[\w.-]{0,200}")
SEPARATOR = re.compile(
    r"\s{0,5}[,;、，；]\s{0,5}|\s{1,5}(?:and|und|et|y|&|\+)\s{1,5}|\s{0,5}[和與与及]\s{0,5}", re.IGNORECASE
)
FILLERS = frozenset(
    {"the", "decision", "record", "adr", "by", "and", "&", ",", "+", ":", "-", "–", "—", "：", "和", "及"}
)
NOTHING = frozenset({"", "-", "—", "–", "none", "n/a", "na", "null", "no", "nothing", "tbd", "無", "无"})
MARKS = " \t*_`'\"()<>[]{}「」『』（）。.,;"


def split_references(text: str) -> list[str]:
    """Return the references of a value such as `ADR-1, [ADR-2](0002-x.md) and 3`."""
    text = clean(text, MAX_STATUS_CHARS)
    found = []
    rest: list[str] = []
    end = 0
    for match in LINK.finditer(text):
        rest.append(text[end : match.start()])
        found.append(link_reference(match.group(1), match.group(2) or ""))
        end = match.end()
    rest.append(text[end:])
    parts: list[str] = []
    for piece in rest:
        listed = [part for part in SEPARATOR.split(piece) if part.strip(MARKS)]
        # Prose with an `and` that names no numbers stays whole.
        has_mark = "," in piece or "、" in piece
        is_list = len(listed) > 1 and (has_mark or all(re.search(r"\d", part) for part in listed))
        parts += listed if is_list else [piece]
    return [one for one in [*found, *(normal_reference(part) for part in parts)] if one][:MAX_REFERENCES]


def find_references(text: str) -> list[str]:
    """Return the references at the beginning of prose, such as `ADR-5 and 6 on 2024-05-01, because ...`."""
    text = RST_LINK.sub(lambda match: f" [{match.group(1) or match.group(2)}]({match.group(3) or ''}) ", text)
    links = [link_reference(match.group(1), match.group(2) or "") for match in LINK.finditer(text)]
    if links:
        return [one for one in links if one][:MAX_REFERENCES]
    text = NUMBERED.sub(lambda match: f"{match.group(1)}-{match.group(2)}", DATE.sub(" ", text[:MAX_STATUS_CHARS]))
    found = []
    for word in re.split(r"[\s,;，；、]+", text):
        bare = word.strip(MARKS + ":：")
        if bare.casefold() in FILLERS or not bare:
            continue
        if not (SLUG.fullmatch(bare.lstrip("#")) or bare.casefold().endswith(EXTENSIONS)):
            break
        found.append(normal_reference(bare))
    return found[:MAX_REFERENCES]


def link_reference(label: str, target: str) -> str:
    """Return what a link refers to: a file of the source, else the id in its label, else the end of its address."""
    target = target.split("#", 1)[0].split("?", 1)[0]
    if target and "://" not in target:
        return target
    short = normal_reference(label)
    if SLUG.fullmatch(short) or not target:
        return short
    return target.rstrip("/").rsplit("/", 1)[-1]


def normal_reference(text: str) -> str:
    """Return a reference without marks; `PEP 465` is `PEP-465` and `#12` is `12`. Empty where it names nothing."""
    bare = clean(text, MAX_REFERENCE_CHARS).strip(MARKS)
    if bare.casefold() in NOTHING:
        return ""
    if match := NUMBERED.fullmatch(bare):
        return f"{match.group(1)}-{match.group(2)}"
    if match := NUMBER.fullmatch(bare):
        return match.group(1)
    if match := re.match(r"(\d{1,6})\.\s", bare):
        return match.group(1)
    return bare


def place_references(references: Iterable[str], path: str, kind: str) -> tuple[str, ...]:
    """Return references as a file at `path` means them: paths from the root, bare numbers with its own `kind`."""
    folder = posixpath.dirname(path)
    placed: dict[str, None] = {}
    for reference in references:
        one = reference[:MAX_REFERENCE_CHARS]
        if one.isdigit() and kind:
            placed[f"{kind}-{one}"] = None
        elif "/" in one or one.casefold().endswith(EXTENSIONS):
            placed[posixpath.normpath(posixpath.join("/", folder, one)).lstrip("/")] = None
            if "/" in one and not one.startswith((".", "/")):
                placed[one] = None
        else:
            placed[one] = None
    return tuple(list(placed)[:MAX_REFERENCES])


def make_aliases(item_id: str, path: str, kind: str, number: str) -> tuple[str, ...]:
    """Return, in lower case, by what names others may refer to an item: id, numbers with and without zeros, path."""
    name = posixpath.basename(path)
    names = {item_id, path, posixpath.splitext(path)[0], name, posixpath.splitext(name)[0]}
    if number:
        plain = number.lstrip("0") or "0"
        numbers = {number, plain, plain.zfill(4)}
        names |= numbers | {f"{kind}-{one}" for one in numbers if kind}
    return tuple(sorted({one.casefold() for one in names if one}))


def split_numbered(item_id: str) -> tuple[str, str]:
    """Return kind and number of an id such as `billing/ADR-0012`: `ADR` and `0012`; empty where it has none."""
    last = item_id.rsplit("/", 1)[-1]
    if match := NUMBERED.fullmatch(last):
        return match.group(1), match.group(2)
    return ("", last) if last.isascii() and last.isdigit() and len(last) <= 6 else ("", "")
