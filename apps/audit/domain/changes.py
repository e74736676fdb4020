"""What changed of an object of settings: fields before and after, without secrets and never longer than is read."""

import re
from collections.abc import Mapping
from typing import Any

SECRET = re.compile(r"password|digest|secret|token|recovery|passphrase|credential", re.IGNORECASE)
# Shown instead of the value of a secret.
HIDDEN = "(hidden)"
MAX_FIELDS = 60
MAX_VALUE_CHARS = 500
MAX_DEPTH = 6
# Fields that every use of an object changes.
NOISE = frozenset({"last_login", "last_used_at", "updated_at", "id"})
Changes = dict[str, list[Any]]


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> Changes:
    """Return before and after of each field that differs, None where there was none. Documents are compared inside.

    Of a secret it says only that it changed.
    """
    old, new = flatten(before), flatten(after)
    names = [name for name in {**old, **new} if old.get(name) != new.get(name) and name not in NOISE]
    found = {name: [shown(name, old.get(name)), shown(name, new.get(name))] for name in names[:MAX_FIELDS]}
    if len(names) > MAX_FIELDS:
        found["..."] = [None, f"{len(names) - MAX_FIELDS} more fields"]
    return found


def flatten(values: Mapping[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    """Return a document as one value for each path, such as `weights.time`."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping) and value and depth < MAX_DEPTH:
            found |= flatten(value, f"{path}.", depth + 1)
        else:
            found[path] = value
    return found


def shown(name: str, value: Any) -> Any:
    """Return a value as an entry keeps it."""
    if value in (None, ""):
        return value
    if SECRET.search(name):
        return HIDDEN
    if isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else str(value)
    text = text.replace("\0", "")
    return text if len(text) <= MAX_VALUE_CHARS else f"{text[:MAX_VALUE_CHARS]}… ({len(text)} characters)"
