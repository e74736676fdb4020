"""Markdown of people and of their assistants: what becomes a memory, and what a file is called among the notes."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from apps.core.domain.origin import WriteOrigin
from apps.imports.domain.found import (
    Found,
    FoundMemory,
    FoundNote,
    Kind,
    Reason,
    Refused,
    Target,
    clean_text,
    clean_title,
    read_moment,
)
from apps.notes.domain.chunks import Chunk, chunk_note
from apps.sync.domain.readers.found import UnreadableError
from apps.sync.domain.readers.front_matter import Node, parse_front_matter, split_front_matter

MEMORY_FILE = "memory.md"
MAX_CONTEXT_CHARS = 500
MAX_RELATIONS, MAX_KEYWORDS, MAX_WORD_CHARS = 50, 20, 100
_MARK = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_BOLD_LINE = re.compile(r"^[ \t]*\*\*([^*\n]{1,100})\*\*:?[ \t]*$", re.MULTILINE)
_LINK_TO_FILE = re.compile(r"\[[^\]\n]*\]\([^)\n]+\.(?:md|markdown)(?:#[^)\n]*)?\)", re.IGNORECASE)
_UNWRITABLE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')
_ONLY_HEADINGS = re.compile(r"(?:#{1,6}[ \t][^\n]*\n?)+")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
# A box of a list of tasks is no category, and `- [text](address)` is a link.
_OBSERVATION = re.compile(r"[ \t]*[-*][ \t]+\[([^\[\]\n]{2,100})\][ \t]+(\S.*)")
_RELATION = re.compile(r"[ \t]*[-*][ \t]+([^\[\]\n]{0,100}?)[ \t]*\[\[([^\[\]\n]{1,300})\]\][ \t]*(?:\((.*)\))?[ \t]*")
_TAG = re.compile(r"(?:^|(?<=\s))#([^\s#()]+)")
_LAST_TAGS = re.compile(r"(?:\s+#[^\s#()]+)+\s*$")
_CONTEXT = re.compile(r"\s*\(([^()]*)\)\s*$")


def note_path(path: str) -> str:
    """Return the path of a note for that of a file: composed Unicode, and `-` for what some disks cannot hold."""
    parts = [
        _UNWRITABLE.sub("-", unicodedata.normalize("NFC", part)).strip(" ").rstrip(".") for part in path.split("/")
    ]
    return "/".join(part.lstrip(".") or "-" for part in parts)


def read_note(place: str, path: str, data: bytes, written_at: datetime | None) -> Found:
    """Return a file as a note, byte for byte."""
    if not data.strip():
        return Refused(place=place, reason=Reason.NO_WORDS, target=Target.NOTES)
    try:
        data.decode()
    except UnicodeDecodeError:
        return Refused(place=place, reason=Reason.NOT_UTF8, target=Target.NOTES)
    name = note_path(path)
    name = f"{name[: -len('.markdown')]}.md" if name.lower().endswith(".markdown") else name
    return FoundNote(place=place, path=name, text=data, written_at=written_at)


def memories_of_text(
    place: str,
    text: str,
    *,
    origin: WriteOrigin,
    about: Mapping[str, Any],
    project: str = "",
    heading: str = "",
) -> Iterator[Found]:
    """Yield a memory for each item of a list and each paragraph, with the headings above it as its context."""
    titled = _BOLD_LINE.sub(r"## \1", text)
    for chunk in chunk_note(titled.encode()):
        words = words_of(chunk)
        where = f"{place}, line {chunk.first_line}"
        if not words or _ONLY_HEADINGS.fullmatch(words):
            continue  # a heading that nothing follows
        if chunk.is_item and _LINK_TO_FILE.match(words):
            yield Refused(place=where, reason=Reason.ONLY_A_LINK, target=Target.MEMORIES)
            continue
        yield FoundMemory(
            place=where,
            content=words,
            origin=origin,
            project=project,
            context=" > ".join(part for part in (heading, chunk.heading) if part)[-MAX_CONTEXT_CHARS:],
            metadata={"import": dict(about)},
        )


def words_of(chunk: Chunk) -> str:
    """Return the words of a part of a note, of an item without its mark."""
    lines = clean_text(chunk.text).split("\n")
    if chunk.is_item:
        lines[0] = _MARK.sub("", lines[0], count=1)
    return "\n".join(line.strip() if chunk.is_item else line.rstrip() for line in lines).strip()


def read_memory_file(place: str, path: str, data: bytes) -> Iterator[Found]:
    """Yield the memories of a MEMORY.md of Claude Code. Its project is the folder above `memory`, if there is one."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        yield Refused(place=place, reason=Reason.NOT_UTF8, target=Target.MEMORIES)
        return
    folders = path.split("/")[:-1]
    project = clean_title(folders[-2])[:MAX_WORD_CHARS] if len(folders) > 1 and folders[-1] == "memory" else ""
    about = {"import": Kind.CLAUDE_CODE.value, "path": path}
    yield from memories_of_text(place, text, origin=WriteOrigin.APP, about=about, project=project)


def read_observations(place: str, path: str, data: bytes) -> Iterator[FoundMemory]:
    """Yield the observations of a note of Basic Memory: `- [category] words #tag (context)`.

    Its relations, `- kind [[Target]]`, are in the metadata of each, and in the note, which is kept as well.
    """
    text = clean_text(data.decode("utf-8-sig", "replace"))
    fields = front_matter(text)
    title = clean_title(fields.get("title")) or path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    created = next(
        (moment for name in ("created", "created_at", "date") if (moment := read_moment(fields.get(name)))), None
    )
    lines = list(plain_lines(text))
    relations = [relation for _, line in lines if (relation := read_relation(line))][:MAX_RELATIONS]
    about: dict[str, Any] = {"import": Kind.BASIC_MEMORY.value, "path": path}
    if permalink := clean_title(fields.get("permalink")):
        about["permalink"] = permalink
    if relations:
        about["relations"] = relations
    for number, line in lines:
        if found := _OBSERVATION.fullmatch(line):
            yield read_observation(f"{place}, line {number}", found[1], found[2], title, created, about)


def read_observation(
    place: str, category: str, words: str, title: str, created: datetime | None, about: Mapping[str, Any]
) -> FoundMemory:
    """Return one observation. title: of its note. created: when its note was, as the front matter says."""
    context = _CONTEXT.search(words)
    said = words[: context.start()] if context else words
    tags = dict.fromkeys(tag[:MAX_WORD_CHARS] for tag in _TAG.findall(said))
    return FoundMemory(
        place=place,
        content=(_LAST_TAGS.sub("", said) or said).strip(),
        origin=WriteOrigin.DOCUMENT,
        source="user",
        occurred_at=created,
        type=clean_title(category),
        keywords=tuple(tags)[:MAX_KEYWORDS],
        context=(f"{title} ({context[1]})" if context and context[1].strip() else title)[:MAX_CONTEXT_CHARS],
        metadata={"import": dict(about)},
    )


def read_relation(line: str) -> dict[str, str] | None:
    """Return a relation to another note; None for any other line."""
    found = None if _OBSERVATION.fullmatch(line) else _RELATION.fullmatch(line)
    if found is None:
        return None
    relation = {"kind": found[1].strip() or "links_to", "to": found[2].strip()}
    return relation | ({"context": found[3].strip()[:MAX_CONTEXT_CHARS]} if found[3] else {})


def plain_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines outside of blocks of code, counted from 1."""
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1] == fence):
            fence = "" if fence else mark[1]
        elif not fence:
            yield number, line.rstrip("\r")


def front_matter(text: str) -> Mapping[str, Node]:
    """Return the front matter of a note; nothing where it has none that can be read."""
    try:
        yaml, _ = split_front_matter(text, is_restructured=False)
        return parse_front_matter(yaml) if yaml else {}
    except UnreadableError:
        return {}
