"""Which program wrote the files that a person brings, as far as they show it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from apps.imports.domain import markdown
from apps.imports.domain.found import Kind
from apps.imports.sources.archive import Entry, SourceError
from apps.imports.sources.kinds import MEM0_LISTS, Reading, is_of_conversations, read_file, select_json, select_markdown
from apps.imports.sources.stream import json_items

# Of a file so many items are read, of a folder so many files.
ITEMS, FILES = 3, 20
MEMORY_FILES = frozenset({"memory.md", "claude.md"})
CLAUDE_MEMORIES = frozenset({"conversations_memory", "project_memories"})


def recognise(entries: Sequence[Entry]) -> Kind:
    """Return of which kind files are. Raises SourceError where they do not show it, or cannot be read."""
    faults: list[SourceError] = []
    kind = kind_of_json(select_json(entries), faults) or kind_of_markdown(select_markdown(entries))
    if kind is not None:
        return kind
    unrecognised = SourceError("It does not show which program it is from: name the kind.", code="unrecognised")
    raise next(iter(faults), unrecognised)


def kind_of_json(entries: Sequence[Entry], faults: list[SourceError]) -> Kind | None:
    """Return of which kind JSON files are; None where none of them shows it. Conversations are looked at first.

    faults: takes why files could not be read.
    """
    for entry in sorted(entries, key=lambda one: not is_of_conversations(one))[:FILES]:
        for item in first_items(entry, faults):
            if "mapping" in item:
                return Kind.CHATGPT
            if "chat_messages" in item or not CLAUDE_MEMORIES.isdisjoint(item):
                return Kind.CLAUDE
            if isinstance(item.get("memory"), str):
                return Kind.MEM0
    return None


def first_items(entry: Entry, faults: list[SourceError]) -> Iterator[Mapping[str, Any]]:
    """Yield the first objects of a JSON file, until it cannot be read."""
    lists = ("conversations",) if is_of_conversations(entry) else MEM0_LISTS
    try:
        for item in islice(json_items(Reading("").open(entry), lists), ITEMS):
            if isinstance(item, Mapping):
                yield item
    except SourceError as error:
        faults.append(error)


def kind_of_markdown(entries: Sequence[Entry]) -> Kind | None:
    """Return of which kind Markdown files are; None where there are none."""
    if any(entry.base in MEMORY_FILES for entry in entries):
        return Kind.CLAUDE_CODE
    for entry in entries[:FILES]:
        data = read_file(Reading(""), entry)
        if data is not None and "permalink" in markdown.front_matter(data.decode("utf-8-sig", "replace")):
            return Kind.BASIC_MEMORY
    return Kind.MARKDOWN if entries else None
