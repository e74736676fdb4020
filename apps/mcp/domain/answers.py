"""What a call answers: a text for the model, and the same as JSON for programs, both within a number of tokens."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.notes.domain.blocks import count_tokens

DEFAULT_TOKENS, MIN_TOKENS, MAX_TOKENS = 1_500, 100, 8_000
CUT = " …"
Json = dict[str, Any]


@dataclass(frozen=True)
class CallAnswer:
    """What a call answers. text: for the model. data: the same for programs."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False


def fit(rows: Sequence[Json], line: Callable[[Json], str], tokens: int) -> tuple[list[Json], list[str]]:
    """Return the first rows that fit into so many likely tokens, with their lines; of a first one too long its begin.

    line: a row, which has its text as `content`, as a line.
    """
    kept: list[Json] = []
    lines: list[str] = []
    for row in rows:
        text = line(row)
        size = count_tokens(text) + 1
        if size > tokens:
            if not kept:
                row = {**row, "content": shorten(row["content"], tokens - 40), "cut": True}
                return [row], [line(row)]
            break
        tokens -= size
        kept.append(row)
        lines.append(text)
    return kept, lines


def shorten(text: str, tokens: int) -> str:
    """Return a text of at most so many likely tokens: the beginning of a longer one."""
    if count_tokens(text) <= tokens:
        return text
    low, high = 0, min(len(text), 4 * max(tokens, 1))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens(text[:middle]) < tokens else (low, middle - 1)
    return text[:low].rstrip() + CUT
