"""Of each kind of files: which of them are read, in which order, and as what."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from apps.imports.domain import chatgpt, claude, markdown, mem0
from apps.imports.domain.found import Found, Kind, Reason, Refused, Target
from apps.imports.sources.archive import CountedFile, Entry, SourceError
from apps.imports.sources.stream import TOO_LARGE, json_items
from apps.notes.selectors import MAX_NOTE_BYTES

# Files of Markdown are read whole, one at a time.
MARKDOWN = (".md", ".markdown")
_CONVERSATIONS = re.compile(r"conversations(-\d+)?\.json")
_SAVED = frozenset({"memories.json", "memory.json"})
_SAVED_LISTS = ("memories", "results", "items")
MEM0_LISTS = ("results", "memories", "data")


@dataclass
class Reading:
    """What is read of one source, and what was learnt from it on the way.

    user_id: whom it is kept for. from_user: whose memories of several users are kept, as mem0 names them. read: bytes
    so far. projects: names of projects of Claude by their ids.
    """

    user_id: str
    from_user: str = ""
    read: int = 0
    projects: dict[str, str] = field(default_factory=dict)
    mem0_users: set[str] = field(default_factory=set)

    def open(self, entry: Entry) -> CountedFile:
        """Open a file, whose bytes are counted as they are read."""
        return CountedFile(entry.open(), self.count)

    def count(self, size: int) -> None:
        """Note that so many bytes were read."""
        self.read += size


@dataclass(frozen=True)
class Format:
    """select: the files that are read, in order. read: yields what is in one of them, item by item."""

    select: Callable[[Sequence[Entry]], list[Entry]]
    read: Callable[[Reading, Entry], Iterator[list[Found]]]


def units(kind: Kind, entries: Sequence[Entry], reading: Reading) -> Iterator[list[Found]]:
    """Yield what is found, by conversation, memory or file. Raises SourceError where there is nothing of this kind."""
    form = FORMATS[kind]
    selected = form.select(entries)
    if not selected:
        raise SourceError(f"Nothing in it is {NAMES[kind]}: is this the right kind?", code="nothing_found")
    if asks_for_users(kind, reading):
        look_for_users(selected, reading)
    for entry in selected:
        yield from form.read(reading, entry)


def total_bytes(kind: Kind, entries: Sequence[Entry], reading: Reading) -> int:
    """Return how many bytes will be read."""
    passes = 2 if asks_for_users(kind, reading) else 1
    return passes * sum(entry.size for entry in FORMATS[kind].select(entries))


def asks_for_users(kind: Kind, reading: Reading) -> bool:
    """Return whether the files are read once before, to see whether they have memories of several users."""
    return kind is Kind.MEM0 and not reading.from_user


def place_of(entry: Entry, number: int) -> str:
    """Return the place of an item of a file."""
    return f"{entry.name}, {number}"


def numbered(
    reading: Reading, entry: Entry, lists: Sequence[str], target: Target
) -> Iterator[tuple[str, Any, Found | None]]:
    """Yield the items of a JSON file with their places, and with a refusal for one that is too large."""
    for number, item in enumerate(json_items(reading.open(entry), lists), 1):
        place = place_of(entry, number)
        refused = Refused(place=place, reason=Reason.TOO_LARGE, target=target) if item is TOO_LARGE else None
        yield place, item, refused


def is_of_conversations(entry: Entry) -> bool:
    """Return whether a file is of the conversations of an export, of which large ones have several."""
    return bool(_CONVERSATIONS.fullmatch(entry.base))


# ChatGPT


def select_chatgpt(entries: Sequence[Entry]) -> list[Entry]:
    """Return saved memories, then conversations, of which large exports have several files."""
    saved = [entry for entry in entries if entry.base in _SAVED]
    return [*saved, *filter(is_of_conversations, entries)]


def read_chatgpt(reading: Reading, entry: Entry) -> Iterator[list[Found]]:
    """Yield what is in a file of ChatGPT's export."""
    is_saved = entry.base in _SAVED
    lists, target = (_SAVED_LISTS, Target.MEMORIES) if is_saved else (("conversations",), Target.EVENTS)
    for place, item, refused in numbered(reading, entry, lists, target):
        if refused:
            yield [refused]
        elif is_saved:
            yield [chatgpt.read_saved(place, item)]
        else:
            yield list(chatgpt.read_conversation(place, item))


# Claude


def is_in(entry: Entry, folder: str) -> bool:
    """Return whether a JSON file is in a folder of a name."""
    parts = PurePosixPath(entry.name.lower()).parts
    return entry.base.endswith(".json") and len(parts) > 1 and parts[-2] == folder


def select_claude(entries: Sequence[Entry]) -> list[Entry]:
    """Return projects, whose names memories need, then memories, then conversations."""
    projects = [entry for entry in entries if entry.base == "projects.json" or is_in(entry, "projects")]
    memories = [entry for entry in entries if entry.base == "memories.json" or is_in(entry, "memories")]
    return [*projects, *memories, *filter(is_of_conversations, entries)]


def read_claude(reading: Reading, entry: Entry) -> Iterator[list[Found]]:
    """Yield what is in a file of Claude's export."""
    if entry.base == "projects.json" or is_in(entry, "projects"):
        for place, item, refused in numbered(reading, entry, (), Target.NOTES):
            if named := claude.project_name(item):
                reading.projects[named[0]] = named[1]
            yield [refused] if refused else list(claude.read_project(place, item))
    elif entry.base == "memories.json" or is_in(entry, "memories"):
        for place, item, refused in numbered(reading, entry, (), Target.MEMORIES):
            yield [refused] if refused else list(claude.read_memories(place, item, reading.projects))
    else:
        for place, item, refused in numbered(reading, entry, ("conversations",), Target.EVENTS):
            yield [refused] if refused else list(claude.read_conversation(place, item))


# mem0


def select_json(entries: Sequence[Entry]) -> list[Entry]:
    """Return every JSON file."""
    return [entry for entry in entries if entry.base.endswith(".json")]


def look_for_users(entries: Sequence[Entry], reading: Reading) -> None:
    """Note whose memories there are, as mem0 names them: two are enough to know that there are several."""
    for entry in entries:
        for _, item, _refused in numbered(reading, entry, MEM0_LISTS, Target.MEMORIES):
            if len(reading.mem0_users) < 2 and (user := mem0.user_of(item)):
                reading.mem0_users.add(user)


def read_mem0(reading: Reading, entry: Entry) -> Iterator[list[Found]]:
    """Yield the memories of a file: of several users those of one, so that nobody gets what is another's."""
    wanted = reading.from_user or (reading.user_id if len(reading.mem0_users) > 1 else "")
    for place, item, refused in numbered(reading, entry, MEM0_LISTS, Target.MEMORIES):
        if wanted and not refused and mem0.user_of(item) != wanted:
            refused = Refused(place=place, reason=Reason.OTHER_USER, target=Target.MEMORIES)
        yield [refused or mem0.read_memory(place, item)]


# Markdown


def select_markdown(entries: Sequence[Entry]) -> list[Entry]:
    """Return the files of Markdown."""
    return [entry for entry in entries if entry.base.endswith(MARKDOWN)]


def read_file(reading: Reading, entry: Entry) -> bytes | None:
    """Return a file; None for one that no note can hold."""
    if entry.size > MAX_NOTE_BYTES:
        reading.count(entry.size)
        return None
    return reading.open(entry).read(MAX_NOTE_BYTES)


def whole_note(reading: Reading, entry: Entry) -> tuple[Found, bytes]:
    """Return a file as a note, and its bytes."""
    data = read_file(reading, entry)
    if data is None:
        return Refused(place=entry.name, reason=Reason.TOO_LARGE, target=Target.NOTES), b""
    return markdown.read_note(entry.name, entry.name, data, entry.modified), data


def read_markdown(reading: Reading, entry: Entry) -> Iterator[list[Found]]:
    """Yield a file as a note."""
    yield [whole_note(reading, entry)[0]]


def read_basic_memory(reading: Reading, entry: Entry) -> Iterator[list[Found]]:
    """Yield a file as a note, and its observations as memories."""
    note, data = whole_note(reading, entry)
    is_read = not isinstance(note, Refused)
    yield [note, *(markdown.read_observations(entry.name, entry.name, data) if is_read else ())]


def read_claude_code(reading: Reading, entry: Entry) -> Iterator[list[Found]]:
    """Yield what MEMORY.md lists as memories, and every other file, such as CLAUDE.md, as a note."""
    note, data = whole_note(reading, entry)
    is_memory = entry.base == markdown.MEMORY_FILE and not isinstance(note, Refused)
    yield list(markdown.read_memory_file(entry.name, entry.name, data)) if is_memory else [note]


FORMATS: dict[Kind, Format] = {
    Kind.CHATGPT: Format(select_chatgpt, read_chatgpt),
    Kind.CLAUDE: Format(select_claude, read_claude),
    Kind.MEM0: Format(select_json, read_mem0),
    Kind.BASIC_MEMORY: Format(select_markdown, read_basic_memory),
    Kind.MARKDOWN: Format(select_markdown, read_markdown),
    Kind.CLAUDE_CODE: Format(select_markdown, read_claude_code),
}
NAMES = {
    Kind.CHATGPT: "of an export of ChatGPT (conversations.json)",
    Kind.CLAUDE: "of an export of Claude (conversations.json, memories.json, projects.json)",
    Kind.MEM0: "a list of memories of mem0 (JSON)",
    Kind.BASIC_MEMORY: "a note of Basic Memory (Markdown)",
    Kind.MARKDOWN: "a Markdown file",
    Kind.CLAUDE_CODE: "a memory file of Claude Code (MEMORY.md, CLAUDE.md)",
}
