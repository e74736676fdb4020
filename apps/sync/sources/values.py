"""Checks of what an operator says of a source."""

import os
import re
from collections.abc import Callable, Mapping
from datetime import time
from pathlib import Path
from typing import Any

from apps.core.domain.errors import InvalidInputError
from apps.sync.domain.knowledge import ItemStatus
from apps.sync.domain.paths import can_match
from apps.sync.domain.readers.fields import NAMES
from apps.sync.domain.state import ConflictType, Resolution
from apps.sync.models import (
    MAX_NAME_CHARS,
    MAX_PATH_CHARS,
    MAX_PATTERNS,
    ConventionChoices,
    KnowledgeSource,
    LayerChoices,
    SourceKind,
)
from apps.sync.repository.locations import is_readable, parse_location
from apps.sync.repository.source import check_secret_name as check_secret

# It ends up in every pointer, as `Ref: <name>/<item>`.
NAME = re.compile(r"\w[\w .:-]*\w|\w")
MAX_SECONDS = 366 * 86_400
MAX_SESSIONS = 1_000_000
MAX_LIMIT = 1_000_000
MAX_PATTERN_CHARS = 200
MAX_MAPPED = 50
# The parts of a mapping, and what a value of each may be.
MAPPED = {
    "fields": re.compile("|".join(NAMES)),
    "statuses": re.compile("|".join(ItemStatus)),
    "kinds": re.compile("[A-Za-z]{2,10}"),
}
MEANINGS = {
    "fields": f"The fields are {', '.join(NAMES)}.",
    "statuses": f"The statuses are {', '.join(ItemStatus)}.",
    "kinds": "A kind has 2 to 10 letters, such as RFC.",
}
Check = Callable[[str, Any], Any]


def check_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of fields as they are stored. Raises InvalidInputError for the first that cannot be used."""
    unknown = sorted(values.keys() - CHECKS.keys())
    if unknown:
        raise InvalidInputError("There is no such field.", attr=unknown[0])
    return {name: CHECKS[name](name, value) for name, value in values.items()}


def text_check(limit: int, *, required: bool = False) -> Check:
    """Return the check of a text of one line and at most so many characters."""

    def check(name: str, value: Any) -> str:
        if not isinstance(value, str) or not value.isprintable() or len(value) > limit:
            raise InvalidInputError(f"Give a text of one line and at most {limit} characters.", attr=name)
        if required and not value.strip():
            raise InvalidInputError("This field is required.", attr=name, code="required")
        return value.strip()

    return check


def check_name(name: str, value: Any) -> str:
    """Return a name of letters, digits, spaces, full stops, colons and hyphens."""
    text = str(text_check(MAX_NAME_CHARS, required=True)(name, value))
    if not NAME.fullmatch(text):
        raise InvalidInputError("Use letters, digits, spaces, and . : _ - only.", attr=name)
    return text


def check_folder(name: str, value: Any) -> str:
    """Return a folder inside the source, with slashes, without one at either end."""
    text = str(text_check(MAX_PATH_CHARS)(name, value)).strip("/")
    if text and any(part in {"", ".", ".."} for part in text.split("/")):
        raise InvalidInputError("Name a folder inside the source, such as knowledge/adr.", attr=name)
    return text


def check_patterns(name: str, value: Any) -> list[str]:
    """Return patterns of paths without repetition."""
    if not isinstance(value, list | tuple) or len(value) > MAX_PATTERNS:
        raise InvalidInputError(f"Send a list of at most {MAX_PATTERNS} patterns.", attr=name)
    check = text_check(MAX_PATTERN_CHARS, required=True)
    patterns = list(dict.fromkeys(str(check(name, pattern)) for pattern in value))
    if any(not can_match(pattern) for pattern in patterns):
        raise InvalidInputError("No path matches such a pattern: write one such as adr/**/*.md.", attr=name)
    return patterns


def choice_check(choices: type[LayerChoices] | type[ConventionChoices] | type[SourceKind]) -> Check:
    """Return the check of a word of several."""

    def check(name: str, value: Any) -> str:
        if value not in choices.values:
            raise InvalidInputError(f"Choose one of {', '.join(choices.values)}.", attr=name, code="invalid_choice")
        return str(choices(value).value)

    return check


def check_resolutions(name: str, value: Any) -> dict[str, str]:
    """Return what is done about conflicts instead of the default, by type (spec 003, custom resolution strategy)."""
    if not isinstance(value, Mapping):
        raise InvalidInputError("Send an object with a resolution for each type of conflict.", attr=name)
    for type_, resolution in value.items():
        if type_ not in list(ConflictType):
            raise InvalidInputError(f"The types of conflicts are {', '.join(ConflictType)}.", attr=name)
        if resolution not in list(Resolution):
            raise InvalidInputError(f"The resolutions are {', '.join(Resolution)}.", attr=name)
    return {str(type_): str(resolution) for type_, resolution in value.items()}


def check_mapping(name: str, value: Any) -> dict[str, dict[str, str]]:
    """Return what names of fields, words of statuses and folders of numbers mean in a source."""
    mapping = {} if value is None else value
    if not isinstance(mapping, Mapping) or mapping.keys() - MAPPED.keys():
        raise InvalidInputError(f"Give an object with {', '.join(MAPPED)}, each of them an object.", attr=name)
    return {part: check_mapped(name, part, pairs) for part, pairs in mapping.items() if pairs != {}}


def check_mapped(name: str, part: str, pairs: Any) -> dict[str, str]:
    """Return a part of a mapping: texts by texts."""
    if not isinstance(pairs, Mapping) or len(pairs) > MAX_MAPPED:
        raise InvalidInputError(f"Give an object of at most {MAX_MAPPED} texts in {part}.", attr=name)
    check, meaning = text_check(MAX_PATTERN_CHARS, required=True), MAPPED[part]
    found = {check(name, key): check(name, value) for key, value in pairs.items()}
    wrong = next((value for value in found.values() if not meaning.fullmatch(value)), None)
    if wrong is not None:
        raise InvalidInputError(MEANINGS[part], attr=name, code="invalid_choice")
    return found


def check_secret_name(name: str, value: Any) -> str:
    """Return the name of a secret, or an empty text for none."""
    text = str(text_check(100)(name, value))
    if text:
        check_secret(text, name)
    return text


def number_check(most: int) -> Check:
    """Return the check of a whole number from 1, or None."""

    def check(name: str, value: Any) -> int | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise InvalidInputError(f"Give a whole number from 1 to {most}.", attr=name)
        return value

    return check


def check_time(name: str, value: Any) -> time | None:
    """Return a time of the day, or None."""
    if value is not None and not isinstance(value, time):
        raise InvalidInputError("Enter a time such as 03:00.", attr=name)
    return value


def check_bool(name: str, value: Any) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise InvalidInputError("Use true or false.", attr=name)
    return value


def check_location(location: str, kind: str) -> None:
    """Raise InvalidInputError for a location that a source of this kind cannot have, or must not have."""
    path = parse_location(location, kind=kind).path
    if path is not None and not is_readable(Path(os.path.realpath(path))):
        raise InvalidInputError(
            "A local path must be inside one of the folders in MEMORYHUB_SYNC_ROOTS, and outside the hub's own files.",
            attr="location",
        )


CHECKS: dict[str, Check] = {
    "name": check_name,
    "user_id": text_check(KnowledgeSource._meta.get_field("user_id").max_length or 0),
    "project": text_check(200),
    "kind": choice_check(SourceKind),
    "location": text_check(MAX_PATH_CHARS, required=True),
    "branch": text_check(200),
    "folder": check_folder,
    "include": check_patterns,
    "exclude": check_patterns,
    "layer": choice_check(LayerChoices),
    "convention": choice_check(ConventionChoices),
    "mapping": check_mapping,
    "resolutions": check_resolutions,
    "credentials": check_secret_name,
    "webhook_secret": check_secret_name,
    "staleness_seconds": number_check(MAX_SECONDS),
    "session_threshold": number_check(MAX_SESSIONS),
    "daily_at": check_time,
    "max_items": number_check(MAX_LIMIT),
    "enabled": check_bool,
}
