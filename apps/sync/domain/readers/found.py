"""What one way of reading found in a file, empty where it found nothing; and why a file became no item."""

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from apps.sync.domain.knowledge import Constraint, ItemStatus, ItemType, Layer

# Of a link, which readers of repositories and folders do not follow: what it leads to is read where it is.
SYMLINK = "symlink"


class Refusal(StrEnum):
    """The codes of a `RefusedFile` that readers return."""

    TOO_LARGE = "too_large"
    NOT_TEXT = "not_text"
    EMPTY = "empty"
    NAME_UNUSABLE = "name_unusable"
    ID_UNUSABLE = "id_unusable"
    FRONT_MATTER_INVALID = "front_matter_invalid"
    FRONT_MATTER_TOO_LARGE = "front_matter_too_large"
    FRONT_MATTER_TOO_DEEP = "front_matter_too_deep"
    TEMPLATE = "template"
    NOT_AN_ITEM = "not_an_item"
    UNKNOWN_KIND = "unknown_kind"


# Files that were not meant to be items. A sync that meets them is complete.
SKIPPED: frozenset[str] = frozenset({Refusal.TEMPLATE, Refusal.NOT_AN_ITEM, Refusal.UNKNOWN_KIND, SYMLINK})


class UnreadableError(Exception):
    """A file cannot become an item. detail: for people, without content of the file."""

    def __init__(self, code: Refusal, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class FileValues:
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


def merge(*founds: FileValues) -> FileValues:
    """Return the first value of each field that is not empty."""
    values: dict[str, Any] = {}
    for name in (one.name for one in fields(FileValues)):
        value = next((value for found in founds if (value := getattr(found, name))), None)
        if value is not None:
            values[name] = value
    return FileValues(**values)
