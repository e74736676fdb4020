"""What changed between two rule documents, for people."""

import json
from collections.abc import Iterator, Mapping
from difflib import ndiff
from typing import Any

KINDS = {"+ ": "added", "- ": "removed", "  ": "same"}


def changed_paths(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> list[str]:
    """The settings that are not the same in both documents, in order; of a missing document all."""
    one, other = _flat(before or {}), _flat(after or {})
    return [path for path in sorted(one.keys() | other.keys()) if one.get(path, ...) != other.get(path, ...)]


def diff_lines(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """The lines of both documents with `added`, `removed` or `same`."""
    for line in ndiff(_lines(before), _lines(after)):
        if line[:2] in KINDS:
            yield KINDS[line[:2]], line


def _flat(document: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def _lines(document: Mapping[str, Any] | None) -> list[str]:
    return [] if document is None else json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True).split("\n")
