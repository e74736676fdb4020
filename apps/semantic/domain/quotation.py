"""How words of people are shown to a model: as a JSON document on one line, between two lines drawn at random.

So nothing that was said can end the document, and the model is instructed that all of it is data.
"""

import json
from typing import Any

from apps.core.domain.randomness import RNG
from apps.llm.domain.chat import ChatMessage, ChatRequest, MessageRole

MAX_QUOTED_CHARS = 4_000
# What instructions have in the place of the line.
BOUNDARY = "BOUNDARY"
_CLIPPED = " […]"
# Line separators that JSON leaves as they are.
_LINE_ENDS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def draw_boundary(rng: RNG) -> str:
    """Return a line with 128 random bits, which the author of a quoted text cannot have known."""
    return "=====" + "".join(f"{int(rng.next_float() * 2**32):08x}" for _ in range(4)) + "====="


def quote(document: Any, boundary: str) -> str:
    """Return a JSON document on one line between two lines of a boundary."""
    return f"{boundary}\n{to_one_line(document)}\n{boundary}"


def quoting_request(
    rng: RNG, instructions: str, before: str, document: Any, after: str, *, max_tokens: int, temperature: float
) -> ChatRequest:
    """Return a request for an answer as JSON about a document. instructions: with BOUNDARY in the place of the line.

    before, after: what is said around the document. rng: draws the boundary.
    """
    boundary = draw_boundary(rng)
    return ChatRequest(
        messages=(ChatMessage(MessageRole.USER, f"{before}\n{quote(document, boundary)}\n{after}"),),
        system=instructions.replace(BOUNDARY, boundary),
        max_tokens=max_tokens,
        temperature=temperature,
        expects_json=True,
    )


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
