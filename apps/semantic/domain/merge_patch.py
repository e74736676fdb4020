"""Merge patches of JSON objects (RFC 7386)."""

from collections.abc import Mapping
from typing import Any


def apply_merge_patch(target: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with the members of a patch set; a null takes its member away, an object is merged in depth."""
    merged = dict(target)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping):
            inner = merged.get(name)
            merged[name] = apply_merge_patch(inner if isinstance(inner, Mapping) else {}, value)
        else:
            merged[name] = value
    return merged
