"""How deep and how large JSON of a caller's own may be."""

from collections.abc import Iterator
from typing import Any

MAX_JSON_DEPTH = 20
MAX_JSON_CHARS = 20_000
TOO_DEEP, TOO_LARGE = "too_deep", "too_large"


def json_excess(data: Any) -> tuple[str, str] | None:
    """Return which limit an object is beyond, as a code and in words; None for neither."""
    size = 0
    for depth, leaf in walk(data, 1):
        size += len(str(leaf)) + 1
        if depth > MAX_JSON_DEPTH:
            return TOO_DEEP, f"nested more deeply than {MAX_JSON_DEPTH} levels"
        if size > MAX_JSON_CHARS:
            return TOO_LARGE, f"larger than {MAX_JSON_CHARS} characters in all"
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
