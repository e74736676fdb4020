"""Rule documents as JSON Schema in the dialect of OpenAPI 3.0, for the API's document and the form in the admin."""

from collections.abc import Collection
from typing import Any

from apps.rules.domain.documents.rule import RuleConfig

Schema = dict[str, Any]
SECTIONS_THAT_DECIDE = ("detection", "arbitration", "merge")
# What a rule is, rather than a setting that it may inherit.
IDENTITY = ("name", "extends")


def rule_schema(*, required: Collection[str] = (), leave_out: Collection[str] = ()) -> Schema:
    """Return the schema of a rule document. Every member but the name may be null, as if it were missing."""
    schema = RuleConfig.model_json_schema()
    properties = inline_references(schema, schema.pop("$defs"))["properties"]
    kept = {name: value for name, value in properties.items() if name not in leave_out}
    schema = {"type": "object", "properties": kept, "additionalProperties": False}
    return {**schema, "required": sorted(required)} if required else schema


def config_schema() -> Schema:
    """Return the schema of the sections that decide: `detection`, `arbitration` and `merge`."""
    return rule_schema(leave_out=[name for name in RuleConfig.model_fields if name not in SECTIONS_THAT_DECIDE])


def setting_schemas(schema: Schema | None = None, prefix: str = "") -> dict[str, Schema]:
    """Return the schema of every setting of a section, by default of a rule, by its path and in order."""
    found: dict[str, Schema] = {}
    for name, member in (schema or rule_schema())["properties"].items():
        is_section = member.get("type") == "object"
        found |= setting_schemas(member, f"{prefix}{name}.") if is_section else {prefix + name: member}
    return found


def setting_label(path: str) -> str:
    """Return the English name of a setting by its path: `Weights recency`."""
    *groups, last = path.split(".")
    label = " ".join([*(group for group in groups[1:] if group != "metadata_strategy"), last])
    return label.replace("_", " ").capitalize()


def inline_references(node: Schema, definitions: Schema) -> Schema:
    """Return a part of pydantic's schema without references, titles and null types, but with `nullable`."""
    if "$ref" in node:
        node = {**definitions[node["$ref"].rpartition("/")[2]], **node}
    if "anyOf" in node:
        node = {**node["anyOf"][0], **node}
    left_out = {"$ref", "anyOf", "title", "default"}
    default = node.get("default")
    is_nullable = "default" in node and "oneOf" not in node
    node = {name: value for name, value in node.items() if name not in left_out}
    if node.get("type") == "object":
        members = {name: inline_references(member, definitions) for name, member in node["properties"].items()}
        return {"type": "object", "nullable": True, "properties": members, "additionalProperties": False}
    if is_nullable:
        node["nullable"] = True
    if "enum" in node:
        node["enum"] = [*node["enum"], None]
    if is_nullable and default is not None and (node["type"] != "string" or "enum" in node):
        node["default"] = default
    return node
