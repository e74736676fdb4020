"""Changing members of a JSON object in its text, so that everything else in it stays as it was written."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True)
class Member:
    """A member of an object: where its name begins, and where its value begins and ends in the text."""

    name: str
    begin: int
    start: int
    stop: int


def list_members(text: str) -> list[Member]:
    """List the members of an object as they are in a text that is valid JSON, those of one name more than once too."""
    found: list[Member] = []
    at = after_space(text, after_space(text, 0) + 1)
    while text[at] != "}":
        begin = at
        name, at = _DECODER.raw_decode(text, at)
        start = after_space(text, after_space(text, at) + 1)  # after the colon
        _, stop = _DECODER.raw_decode(text, start)
        found.append(Member(name, begin, start, stop))
        at = after_space(text, stop)
        if text[at] == ",":
            at = after_space(text, at + 1)
    return found


def set_members(text: str, values: Mapping[str, Any]) -> str:
    """Return the text of an object in which members have these values; new ones come last, set out like the others."""
    members = list_members(text)
    known = {member.name: member for member in members}  # of several, readers take the last one
    added = "".join(f",{lead(text, members)}{member_text(name, values[name])}" for name in values if name not in known)
    if not members:
        opening = text.index("{")
        return f"{text[:opening]}{json.dumps(dict(values), ensure_ascii=False, indent=2)}{text[text.rindex('}') + 1 :]}"
    end = members[-1].stop
    text = text[:end] + added + text[end:]
    for member in sorted(known.values(), key=lambda each: each.start, reverse=True):
        if member.name in values:
            value = json.dumps(values[member.name], ensure_ascii=False)
            text = text[: member.start] + value + text[member.stop :]
    return text


def lead(text: str, members: list[Member]) -> str:
    """Return the white space that separates a member of the object from what is before it."""
    if len(members) > 1:
        return text[text.index(",", members[-2].stop) + 1 : members[-1].begin]
    return text[text.index("{") + 1 : members[0].begin] if members else ""


def member_text(name: str, value: Any) -> str:
    """Return a member as JSON."""
    return f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(value, ensure_ascii=False)}"


def after_space(text: str, at: int) -> int:
    """Return where the white space that begins at an offset ends."""
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
