"""What one way of reading found in a file; what it did not find is empty."""

from dataclasses import dataclass, fields
from typing import Any

from apps.sync.domain.knowledge import Constraint, ItemStatus, ItemType, Layer


@dataclass(frozen=True, slots=True)
class Found:
    """Values of a file. kind, number: `PEP` and `8`. supersedes, superseded_by: as written, one reference each."""

    item_id: str = ""
    kind: str = ""
    number: str = ""
    type: ItemType | None = None
    title: str = ""
    summary: str = ""
    status: ItemStatus | None = None
    layer: Layer | None = None
    constraints: tuple[Constraint, ...] = ()
    tags: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()


def merge(*founds: Found) -> Found:
    """Return the first value of each field that is not empty."""
    values: dict[str, Any] = {}
    for name in (one.name for one in fields(Found)):
        value = next((value for found in founds if (value := getattr(found, name))), None)
        if value is not None:
            values[name] = value
    return Found(**values)
