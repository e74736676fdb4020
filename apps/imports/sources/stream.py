"""The objects of a large JSON file, one after the other, in memory that does not grow with the file.

Pushed through ijson, so that what was read without any value is seen too: one text of a gigabyte is refused as well.
"""

from collections.abc import Collection, Iterator
from typing import Any, Protocol

import ijson

from apps.imports.sources.archive import SourceError

CHUNK_BYTES = 64 * 1024
# Of one item, such as a conversation: characters of its texts, and values.
MAX_ITEM_CHARS, MAX_ITEM_VALUES, MAX_DEPTH = 16_000_000, 1_000_000, 60
# Bytes in which the parser finds no value: inside one text.
MAX_SILENT_BYTES = 32 * 1024 * 1024
_MARK = b"\xef\xbb\xbf"
OPEN = {"start_map": dict, "start_array": list}
CLOSE = ("end_map", "end_array")


class Readable(Protocol):
    """What has bytes."""

    def read(self, size: int) -> bytes: ...


class TooLarge:
    """Stands in the place of an item that is too large to be read."""


TOO_LARGE = TooLarge()


def json_items(file: Readable, lists: Collection[str] = ()) -> Iterator[Any]:
    """Yield the items of a file: of its outermost array, or of the arrays in `lists` of its outermost object.

    Any other outermost value is one item. An item beyond the limits is TOO_LARGE. Raises SourceError for what is no
    JSON, after the items before the fault.
    """
    items = Items(lists)
    for event, value in json_events(file):
        yield from items.add(event, value)
    yield from items.finish()


def json_events(file: Readable) -> Iterator[tuple[str, Any]]:
    """Yield the events of a parser, as they come. Raises SourceError."""
    events = ijson.sendable_list()
    parser = ijson.basic_parse_coro(events, use_float=True)
    silent, is_first = 0, True
    try:
        while chunk := file.read(CHUNK_BYTES):
            parser.send(chunk.removeprefix(_MARK) if is_first else chunk)
            is_first = False
            silent = 0 if events else silent + len(chunk)
            if silent > MAX_SILENT_BYTES:
                raise SourceError("A text in it is too long to be read.", code="too_large_item")
            yield from events
            del events[:]
        parser.close()
        yield from events
    except ijson.JSONError as error:
        yield from events
        raise SourceError("This is no valid JSON, or it is cut off.", code="not_json") from error
    except (ValueError, OverflowError) as error:
        raise SourceError("This is no valid JSON: a number in it cannot be read.", code="not_json") from error


class Items:
    """Builds items of events.

    path: what is open around the items: containers outside of any item. stack: what is open of an item, from the
    outside; keys: the name of the next value of each. root: the members of the outermost object that are no lists.
    """

    def __init__(self, lists: Collection[str]) -> None:
        self.lists = lists
        self.path: list[str] = []
        self.key = ""
        self.stack: list[Any] = []
        self.keys: list[str] = []
        self.root: dict[str, Any] = {}
        self.has_lists = False
        self.depth = self.chars = self.values = 0
        self.is_dropped = False

    def add(self, event: str, value: Any) -> Iterator[Any]:
        """Take an event; yield an item that is complete with it."""
        if not self.depth and self.is_outside(event, value):
            return
        self.measure(value)
        if event in OPEN:
            self.depth += 1
            if not self.is_dropped:
                self.push(OPEN[event]())
        elif event in CLOSE:
            self.depth -= 1
            if not self.is_dropped:
                value = self.stack.pop()
                self.keys.pop()
        elif event == "map_key":
            if not self.is_dropped:
                self.keys[-1] = value
        elif self.depth and not self.is_dropped:
            self.put(value)
        if not self.depth and event not in OPEN:
            yield from self.complete(TOO_LARGE if self.is_dropped else value)

    def is_outside(self, event: str, value: Any) -> bool:
        """Return whether an event is of what is around the items, and note it."""
        if not self.path and event in OPEN:
            self.path.append(event)
            return True
        if event in CLOSE:
            self.path.pop()
            return True
        if event == "map_key":
            self.key = value
            return True
        if len(self.path) == 1 and self.path[0] == "start_map" and event == "start_array" and self.key in self.lists:
            self.path.append(event)
            self.has_lists = True
            return True
        return False

    def measure(self, value: Any) -> None:
        """Count what an item has, and drop it when that is too much."""
        self.values += 1
        self.chars += len(value) if isinstance(value, str) else 0
        is_large = self.chars > MAX_ITEM_CHARS or self.values > MAX_ITEM_VALUES or self.depth > MAX_DEPTH
        if is_large and not self.is_dropped:
            self.is_dropped, self.stack, self.keys = True, [], []

    def push(self, container: Any) -> None:
        """Open an object or a list."""
        if self.stack:
            self.put(container)
        self.stack.append(container)
        self.keys.append("")

    def put(self, value: Any) -> None:
        """Put a value into what is open."""
        inner = self.stack[-1]
        if isinstance(inner, dict):
            inner[self.keys[-1]] = value
        else:
            inner.append(value)

    def complete(self, item: Any) -> Iterator[Any]:
        """Yield an item of a list; keep a member of the outermost object."""
        self.chars = self.values = 0
        self.is_dropped = False
        if not self.path or self.path[-1] == "start_array":
            yield item
        else:
            self.root[self.key] = item
            self.chars = sum(len(one) for one in self.root.values() if isinstance(one, str))

    def finish(self) -> Iterator[Any]:
        """Yield the outermost object, where it had no lists of items."""
        if self.root and not self.has_lists:
            yield TOO_LARGE if TOO_LARGE in self.root.values() else self.root
