"""Checking a rule document before it is used: every problem with the path of its field."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from apps.rules.domain.documents.problems import InvalidRuleError, RuleProblem
from apps.rules.domain.documents.rule import DEFAULT_RULE, MAX_NAME_CHARS, SHAPE, Document, drop_nulls
from apps.rules.domain.documents.shape import Group, Setting, is_storable, problem_with

MAX_BYTES = 64 * 1024
MAX_DEPTH = 8
MAX_PROBLEMS = 20
MAX_SHOWN_CHARS = 100
# What follows /api/rules/ in an address that is no rule.
RESERVED_NAMES = frozenset({"export", "load", "match", "evaluate", ".", ".."})
FIXED_FOR_DEFAULT = ("extends", "conditions")


def validate_document(document: Any) -> Document:
    """A document without nulls that is known to be sound in every field. Raises InvalidRuleError.

    What depends on other rules (`extends`) or on several fields together is left to `rules.resolve`.
    """
    problems = list(_problems(document))
    if problems:
        raise InvalidRuleError(problems[:MAX_PROBLEMS])
    return drop_nulls(document)


def check_name(name: Any) -> Iterator[RuleProblem]:
    """What is wrong with the name of a rule."""
    if not isinstance(name, str) or not 1 <= len(name) <= MAX_NAME_CHARS:
        yield RuleProblem("name", f"Expected 1 to {MAX_NAME_CHARS} characters.")
    elif not name.isprintable() or name != name.strip() or "/" in name or not is_storable(name):
        yield RuleProblem("name", "A name is printable, has no slash, and neither begins nor ends with a space.")
    elif name in RESERVED_NAMES:
        yield RuleProblem("name", f"{name!r} is an address of the API; call the rule something else.")


def check_setting(setting: Setting, value: Any) -> Iterator[RuleProblem]:
    """What is wrong with the value of one setting; null means that it is missing."""
    if value is not None and (message := problem_with(setting, value)):
        yield RuleProblem(setting.path, message)


def _problems(document: Any) -> Iterator[RuleProblem]:
    if not isinstance(document, Mapping):
        yield RuleProblem("", "A rule is a JSON object.")
        return
    too_deep = _too_deep(document)
    if too_deep is not None:
        yield RuleProblem(too_deep, f"Nested too deeply: at most {MAX_DEPTH} levels.")
        return
    if _size(document) > MAX_BYTES:
        yield RuleProblem(_largest(document), f"The rule is too large: at most {MAX_BYTES // 1024} KB of JSON.")
        return
    yield from check_name(document.get("name"))
    yield from _of_default(document)
    yield from _in_group(SHAPE, document, "")


def _of_default(document: Mapping[str, Any]) -> Iterator[RuleProblem]:
    if document.get("name") != DEFAULT_RULE:
        return
    reason = "The default rule applies where no other one does, so it needs no"
    for name in FIXED_FOR_DEFAULT:
        if document.get(name):
            yield RuleProblem(name, f"{reason} {name}.")
    if document.get("enabled") is False:
        yield RuleProblem("enabled", "The default rule cannot be disabled: it applies where no other one does.")


def _in_group(group: Group, values: Mapping[Any, Any], path: str) -> Iterator[RuleProblem]:
    for name, value in values.items():
        where = f"{path}.{shown(name)}" if path else shown(name)
        member = group.members.get(name)
        if member is None:
            yield RuleProblem(where, "Unknown field.")
        elif where == "name" or value is None:
            continue
        elif isinstance(member, Setting):
            yield from check_setting(member, value)
        elif isinstance(value, Mapping):
            yield from _in_group(member, value, where)
        else:
            yield RuleProblem(where, "Expected a JSON object.")


def shown(name: Any) -> str:
    """A caller's text, short and safe to send back."""
    return str(name)[:MAX_SHOWN_CHARS].encode("utf-8", "replace").decode()


def _size(document: Mapping[str, Any]) -> int:
    return len(json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _largest(document: Mapping[str, Any]) -> str:
    """The field that takes most of the room."""
    return shown(max(document, key=lambda name: (len(str(name)) + _size({"": document[name]}), str(name))))


def _too_deep(document: Mapping[str, Any]) -> str | None:
    """The top-level field under which a document is too deep; without recursion, which has a limit of its own."""
    for name, value in document.items():
        level = [value]
        for _ in range(MAX_DEPTH):
            level = [item for value in level for item in _children(value)]
        if level:
            return shown(name)
    return None


def _children(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else []
