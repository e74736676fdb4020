"""What differs between two documents of a rule: setting by setting, and line by line as they are exported."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum
from typing import Any, Final

from apps.rules.domain.documents.rule import Document


class Absence(Enum):
    """The value of a setting that a document does not have: it is inherited. Null is a value, under `conditions`."""

    INHERITED = "inherited"


INHERITED: Final = Absence.INHERITED


@dataclass(frozen=True)
class SettingChange:
    """One setting that differs. path: such as `merge.boost_amount`. before, after: its values, or INHERITED."""

    path: str
    before: Any
    after: Any


def flatten(document: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the settings of a document by their paths."""
    flat: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def setting_changes(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> list[SettingChange]:
    """Return the settings that differ between two documents, in the order of their paths."""
    old, new = flatten(before or {}), flatten(after or {})
    changes = [SettingChange(path, old.get(path, INHERITED), new.get(path, INHERITED)) for path in sorted({*old, *new})]
    return [change for change in changes if change.before != change.after]


def with_setting(document: Mapping[str, Any], path: str, value: Any) -> Document:
    """Return a document with one setting changed. INHERITED leaves it out, and its section if nothing else is in it."""
    name, _, rest = path.partition(".")
    changed = {other: member for other, member in document.items() if other != name}
    if not rest:
        return changed if value is INHERITED else {**changed, name: value}
    section = document.get(name)
    below = with_setting(section if isinstance(section, Mapping) else {}, rest, value)
    return {**changed, name: below} if below else changed


def with_changes(document: Mapping[str, Any], changes: list[SettingChange]) -> Document:
    """Return a document with settings changed to what they are after the changes."""
    changed = dict(document)
    for change in changes:
        changed = with_setting(changed, change.path, change.after)
    return changed


def export_lines(document: Mapping[str, Any] | None) -> list[str]:
    """Return the lines of a document as an export has it; none for no document."""
    if document is None:
        return []
    return json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True).split("\n")


def diff_lines(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """Yield the lines of two documents with `added`, `removed` or `same`."""
    old, new = export_lines(before), export_lines(after)
    # Line by line: a comparison of their characters as well takes seconds for long descriptions.
    for tag, start, end, from_new, to_new in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (("same", f"  {line}") for line in old[start:end])
        else:
            yield from (("removed", f"- {line}") for line in old[start:end])
            yield from (("added", f"+ {line}") for line in new[from_new:to_new])
