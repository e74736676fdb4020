"""How words of people are shown to a model: as a JSON document on one line, between two lines drawn at random.

So nothing that was said can end the document, and the model is instructed that all of it is data.
"""

import json
from typing import Any

from apps.core.domain.randomness import RNG

MAX_QUOTED_CHARS = 4_000
_CLIPPED = " […]"
# Line separators that JSON leaves as they are.
_LINE_ENDS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def draw_boundary(rng: RNG) -> str:
    """Return a line with 128 random bits, which the author of a quoted text cannot have known."""
    return "=====" + "".join(f"{int(rng.next_float() * 2**32):08x}" for _ in range(4)) + "====="


def quote(document: Any, boundary: str) -> str:
    """Return a JSON document on one line between two lines of a boundary."""
    return f"{boundary}\n{to_one_line(document)}\n{boundary}"


def clip_text(text: str) -> str:
    """Return a text of limited length that can be encoded."""
    clipped = text if len(text) <= MAX_QUOTED_CHARS else text[:MAX_QUOTED_CHARS] + _CLIPPED
    return clipped.encode("utf-8", "replace").decode()


def to_one_line(document: Any) -> str:
    """Return JSON that no reader takes for several lines."""
    line = json.dumps(document, ensure_ascii=False)
    for separator, escaped in _LINE_ENDS.items():
        line = line.replace(separator, escaped)
    return line
