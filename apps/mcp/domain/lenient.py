"""Arguments of a call as models send them, read as the schema of the tool means them."""

import json
import re
from collections.abc import Mapping
from typing import Any

MAX_READ_CHARS = 20_000
_NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?", re.ASCII)
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read_leniently(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments in which what can be read in one way only has the type that the schema names.

    Read are numbers, booleans and lists that were sent as text, one value where a list is expected, a number where a
    text is expected, and words of a choice in another case. What is null, or blank where no text is expected, was not
    sent. Whatever else does not keep to the schema stays as it is, for the check to name it.
    """
    properties = schema.get("properties", {})
    read: dict[str, Any] = {}
    for name, value in arguments.items():
        declared = properties.get(name, {})
        if value is None or (value == "" and (declared.get("type") != "string" or "enum" in declared)):
            continue
        read[name] = read_value(value, declared)
    return read


def read_value(value: Any, declared: Mapping[str, Any]) -> Any:
    """Return a value as the type that is declared for it, where that is clear."""
    match declared.get("type"):
        case "number" | "integer" if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
            number = float(value)
            return int(number) if number.is_integer() else number
        case "boolean" if isinstance(value, str):
            return _BOOLEANS.get(value.strip().lower(), value)
        case "array":
            return [read_value(one, declared.get("items", {})) for one in read_list(value)]
        case "string" if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        case "string" if isinstance(value, str) and value.strip().lower() in declared.get("enum", ()):
            return value.strip().lower()
    return value


def read_list(value: Any) -> list[Any]:
    """Return a list that was sent as JSON text, as words between commas, or as its one value."""
    if isinstance(value, list):
        return value
    if not isinstance(value, str):
        return [value]
    text = value.strip()
    if text.startswith("[") and len(text) <= MAX_READ_CHARS:
        try:
            read = json.loads(text)
        except (ValueError, RecursionError):
            return [value]
        return read if isinstance(read, list) else [value]
    return [part for one in text.split(",") if (part := one.strip())]
