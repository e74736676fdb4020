"""YAML front matter: read from the events of the parser, within limits.

Every scalar stays the text that was written: `0012`, `2024-01-31` and `no` are no numbers, dates or booleans here, and
no tag makes an object. Anchors, aliases and keys that occur twice are refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import yaml

from apps.sync.domain.readers.found import Refusal, UnreadableError
from apps.sync.domain.readers.text import MAX_FRONT_MATTER_CHARS, MAX_FRONT_MATTER_DEPTH, MAX_FRONT_MATTER_NODES

Node: TypeAlias = "str | list[Node] | dict[str, Node]"

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
NULLS = frozenset({"", "~", "null", "Null", "NULL"})
PLAIN_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "timestamp", "seq", "map")
)
# The first line of the YAML in the file, counted from 1.
FIRST_LINE = 2
LATER_DOCUMENT = re.compile(r"---\s")


@dataclass(slots=True)
class OpenNode:
    """A list or mapping that is being read. key: of the next value; None where a key is expected."""

    value: list[Node] | dict[str, Node]
    key: str | None = None


def split_front_matter(text: str, is_restructured: bool) -> tuple[str | None, str]:
    """Return the YAML before a text, or None, and the text. Raises UnreadableError where it is not closed."""
    first, _, rest = text.partition("\n")
    if first.rstrip() == "+++":
        raise UnreadableError(Refusal.FRONT_MATTER_INVALID, "Line 1: front matter in TOML is not read; use YAML.")
    title, _, after = rest.partition("\n")
    is_over_heading = title.strip() and ":" not in title and after.partition("\n")[0].rstrip() == "---"
    if first.rstrip() != "---" or (is_restructured and is_over_heading):
        return None, text
    start = 0
    while start < len(rest) and start <= MAX_FRONT_MATTER_CHARS:
        end = rest.find("\n", start)
        end = len(rest) if end < 0 else end
        line = rest[start:end].rstrip()
        if line in {"---", "..."}:
            return rest[:start], rest[end + 1 :]
        if LATER_DOCUMENT.match(line):
            return rest[:start], rest[start:]
        start = end + 1
    if start >= len(rest):
        raise UnreadableError(
            Refusal.FRONT_MATTER_INVALID, "Line 1: the front matter is not closed by a line of `---`."
        )
    raise UnreadableError(
        Refusal.FRONT_MATTER_TOO_LARGE, f"The front matter has more than {MAX_FRONT_MATTER_CHARS:,} characters."
    )


def parse_front_matter(text: str) -> dict[str, Node]:
    """Return the mapping that a YAML text is. Raises UnreadableError with the line of the file."""
    stack: list[OpenNode] = []
    root: Node = ""
    for count, event in enumerate(events_of(text), start=1):
        refuse_unsafe(event, count, len(stack))
        if isinstance(event, yaml.ScalarEvent):
            node: Node = "" if event.implicit[0] and event.value in NULLS else event.value
            root = add(stack, node, event) if stack else node
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            opened: Node = {} if isinstance(event, yaml.MappingStartEvent) else []
            root = add(stack, opened, event) if stack else opened
            stack.append(OpenNode(opened))  # type: ignore[arg-type]
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            stack.pop()
    if isinstance(root, dict):
        return root
    if root == "":
        return {}
    raise invalid(FIRST_LINE, "the front matter is not a list of `key: value`")


def events_of(text: str) -> Iterator[yaml.Event]:
    """Yield the events of a YAML text. Raises UnreadableError."""
    try:
        yield from yaml.parse(text, Loader=LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise invalid(
            (mark.line if mark else 0) + FIRST_LINE, f"not valid YAML ({error.problem or error.context})"
        ) from error
    except yaml.YAMLError as error:
        raise invalid(FIRST_LINE, "not valid YAML (a character that YAML does not allow)") from error


def refuse_unsafe(event: yaml.Event, count: int, depth: int) -> None:
    """Raise UnreadableError for what could grow without limit, or make objects."""
    line = (event.start_mark.line if event.start_mark else 0) + FIRST_LINE
    if count > MAX_FRONT_MATTER_NODES:
        raise UnreadableError(
            Refusal.FRONT_MATTER_TOO_LARGE,
            f"Line {line}: the front matter has more than {MAX_FRONT_MATTER_NODES:,} values.",
        )
    if depth > MAX_FRONT_MATTER_DEPTH:
        raise UnreadableError(
            Refusal.FRONT_MATTER_TOO_DEEP,
            f"Line {line}: the front matter is nested more than {MAX_FRONT_MATTER_DEPTH} deep.",
        )
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
        raise invalid(line, "anchors and aliases (`&`, `*`) are not read; quote the value if it is text")
    tag = getattr(event, "tag", None)
    if tag is not None and tag != "!" and tag not in PLAIN_TAGS:
        raise invalid(line, "tags (`!`) are not read; quote the value if it is text")


def add(stack: list[OpenNode], node: Node, event: yaml.Event) -> Node:
    """Put a value into the innermost list or mapping and return the outermost one."""
    frame = stack[-1]
    line = (event.start_mark.line if event.start_mark else 0) + FIRST_LINE
    if isinstance(frame.value, list):
        frame.value.append(node)
    elif frame.key is None:
        if not isinstance(node, str):
            raise invalid(line, "a list or mapping cannot be a key; quote the value if it is text")
        if node in frame.value:
            raise invalid(line, "a key appears twice")
        frame.key = node
    else:
        frame.value[frame.key] = node
        frame.key = None
    return stack[0].value


def invalid(line: int, why: str) -> UnreadableError:
    """Return the error of a line that cannot be read."""
    return UnreadableError(Refusal.FRONT_MATTER_INVALID, f"Line {line}: {why}.")
