"""The depth and the width of a JSON text, measured without parsing it.

A parser makes an object of every value: 57 MB of `[[],[],...]` are 19 million of them and several seconds in which no
other thread runs. Measuring reads the bytes once, part by part, with numpy, which lets other threads run.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

MAX_JSON_DEPTH = 20
MAX_JSON_CHARS = 20_000
TOO_DEEP, TOO_LARGE = "too_deep", "too_large"
PART_BYTES = 256 * 1024
_BACKSLASH, _QUOTE, _COMMA = 0x5C, 0x22, 0x2C


def json_excess(data: Any, max_chars: int = MAX_JSON_CHARS) -> tuple[str, str] | None:
    """Return which limit an object is beyond, as a code and in words; None for neither."""
    size = 0
    for depth, leaf in walk(data, 1):
        size += len(str(leaf)) + 1
        if depth > MAX_JSON_DEPTH:
            return TOO_DEEP, f"nested more deeply than {MAX_JSON_DEPTH} levels"
        if size > max_chars:
            return TOO_LARGE, f"larger than {max_chars} characters in all"
    return None


def walk(value: Any, depth: int) -> Iterator[tuple[int, Any]]:
    """Yield every name and value with its depth, from the top; an object or a list as an empty text."""
    if not isinstance(value, dict | list):
        yield depth, value
        return
    yield depth, ""
    if isinstance(value, dict):
        yield from ((depth, name) for name in value)
    for item in value.values() if isinstance(value, dict) else value:
        yield from walk(item, depth + 1)


Bytes = npt.NDArray[np.uint8]


@dataclass
class JsonShape:
    """What was measured so far.

    depth: of nesting, at its deepest. values: containers included, where an empty one counts twice.
    """

    depth: int = 0
    values: int = 1
    _open: int = 0
    _is_in_text: bool = False
    _is_escaped: bool = False

    def add(self, part: Bytes) -> None:
        """Measure the next part of the text."""
        quotes = part == _QUOTE
        quotes[self._escaped(part)] = False
        is_text = np.bitwise_xor.accumulate(quotes) ^ self._is_in_text
        self._is_in_text = bool(is_text[-1])
        outside = ~is_text
        # The letters of [ and {, and of ] and }, differ in one bit.
        opened, closed = ((part | 0x20) == 0x7B) & outside, ((part | 0x20) == 0x7D) & outside
        levels = np.cumsum(opened.view(np.int8) - closed.view(np.int8), dtype=np.int32)
        self.depth = max(self.depth, self._open + int(levels.max()))
        self._open += int(levels[-1])
        self.values += int(np.count_nonzero(opened)) + int(np.count_nonzero((part == _COMMA) & outside))

    def _escaped(self, part: Bytes) -> npt.NDArray[np.intp]:
        """Return the places of the characters that a backslash precedes, unless that is escaped itself."""
        was_escaped, self._is_escaped = self._is_escaped, False
        places = np.flatnonzero(part == _BACKSLASH)
        first = np.zeros(int(was_escaped), dtype=np.intp)
        if len(places) == 0:
            return first
        begins = np.flatnonzero(np.diff(places, prepend=places[0] - 2) != 1)
        lengths = np.diff(begins, append=len(places))
        offsets = places - np.repeat(places[begins], lengths)
        if was_escaped and places[0] == 0:
            offsets[: lengths[0]] += 1
        escaped = places[offsets % 2 == 0] + 1
        self._is_escaped = bool(len(escaped) and escaped[-1] == len(part))
        return np.concatenate([first, escaped[: len(escaped) - self._is_escaped]])


def find_excess(body: bytes, max_depth: int, max_values: int) -> str | None:
    """Return why a JSON text is too deep or too wide to be parsed; None when it is neither.

    Linear in the length, and ends at the first part that is too much. What is no JSON is left to the parser.
    """
    if len(body) <= PART_BYTES:
        opened = body.count(b"[") + body.count(b"{")
        if opened <= max_depth and opened + body.count(b",") < max_values:
            return None
    shape = JsonShape()
    for first in range(0, len(body), PART_BYTES):
        shape.add(np.frombuffer(body, dtype=np.uint8, count=min(PART_BYTES, len(body) - first), offset=first))
        if shape.depth > max_depth:
            return f"nested too deeply: at most {max_depth} levels"
        if shape.values > max_values:
            return f"too many values: at most {max_values}"
    return None
