"""Rule documents as JSON Schema, for the OpenAPI document."""

from collections.abc import Collection
from typing import Any

from apps.rules.domain.documents.rule import MAX_NAME_CHARS, SHAPE
from apps.rules.domain.documents.shape import MAX_TEXT_CHARS, Group, Setting

Schema = dict[str, Any]
# Printable enough for a document; the parser looks closer.
NAME = r"^[A-Za-z0-9_][A-Za-z0-9_ -]*[A-Za-z0-9_]$|^[A-Za-z0-9_]$"
_NAMED = {"type": "string", "maxLength": MAX_NAME_CHARS, "pattern": NAME}
TEXT = r"^[^\u0000]*[^\s\u0000][^\u0000]*$"


def rule_schema(*, required: Collection[str] = (), leave_out: Collection[str] = ()) -> Schema:
    """The schema of a rule document. A member may be null: it is then as if it were missing."""
    schema = _group(SHAPE)
    schema["properties"] |= {"name": _NAMED, "extends": {**_NAMED, "nullable": True}}
    schema["properties"] = {name: value for name, value in schema["properties"].items() if name not in leave_out}
    return {**schema, "required": sorted(required)} if required else schema


def _group(group: Group) -> Schema:
    members = {
        name: _group(member) if isinstance(member, Group) else _setting(member)
        for name, member in group.members.items()
    }
    return {"type": "object", "properties": members, "additionalProperties": False}


def _setting(setting: Setting) -> Schema:
    return {**_VALUES[setting.kind](setting), "description": setting.help}


def _words(setting: Setting) -> Schema:
    word = {"type": "string", "minLength": 1, "maxLength": MAX_TEXT_CHARS, "pattern": TEXT}
    return {"oneOf": [{**word, "nullable": True}, {"type": "array", "items": word, "maxItems": int(setting.maximum)}]}


def _number(setting: Setting) -> Schema:
    bounds = {"minimum": setting.minimum, "maximum": setting.maximum}
    return {"type": "number", "nullable": True, **bounds, **_default(setting)}


def _text(setting: Setting) -> Schema:
    pattern = {"minLength": int(setting.minimum), "pattern": TEXT} if setting.minimum else {"pattern": r"^[^\u0000]*$"}
    return {"type": "string", "nullable": True, "maxLength": int(setting.maximum), **pattern}


def _default(setting: Setting) -> Schema:
    return {} if setting.default is None else {"default": setting.default}


_VALUES: dict[str, Any] = {
    "boolean": lambda setting: {"type": "boolean", "nullable": True, **_default(setting)},
    "number": _number,
    "integer": lambda setting: {**_number(setting), "type": "integer"},
    "choice": lambda setting: {
        "type": "string", "nullable": True, "enum": [*setting.choices, None], **_default(setting)
    },
    "text": _text,
    "words": _words,
}  # fmt: skip


def config_schema() -> Schema:
    """The schema of the sections that decide: `detection`, `arbitration` and `merge`."""
    chosen = {"detection", "arbitration", "merge"}
    return rule_schema(leave_out=[name for name in SHAPE.members if name not in chosen])
