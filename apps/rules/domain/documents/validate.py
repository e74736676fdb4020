"""The check of a rule document before it is stored or used."""

import json
from collections.abc import Mapping
from typing import Any

from apps.rules.domain.documents.inheritance import deep_merge
from apps.rules.domain.documents.problems import MAX_PROBLEMS, InvalidRuleError, RuleProblem
from apps.rules.domain.documents.rule import DEFAULT_RULE, Document, rule_from_document
from apps.rules.domain.section import shorten

MAX_BYTES = 64 * 1024
MAX_DEPTH = 8


def validate_document(document: Any) -> Document:
    """Return a sound document without nulls. Raise InvalidRuleError with every problem.

    What depends on other rules (`extends`) is checked when rules are resolved.
    """
    if not isinstance(document, Mapping):
        raise InvalidRuleError([RuleProblem("", "A rule is a JSON object.")])
    check_extent(document)
    problems = problems_of_default(document) if document.get("name") == DEFAULT_RULE else []
    try:
        rule_from_document(document)
    except InvalidRuleError as error:
        problems += error.problems
    if problems:
        raise InvalidRuleError(problems[:MAX_PROBLEMS])
    return drop_nulls(document)


def drop_nulls(document: Mapping[str, Any]) -> Document:
    """Return a document without null members, except under `conditions`, where null removes an inherited condition."""
    return {
        name: drop_nulls(value) if isinstance(value, Mapping) and name != "conditions" else value
        for name, value in document.items()
        if value is not None
    }


def check_extent(document: Mapping[str, Any]) -> None:
    """Raise InvalidRuleError for a document that is nested too deeply or too large, naming its worst field."""
    for name, value in document.items():
        # Without recursion, which has a limit of its own.
        level = [value]
        for _ in range(MAX_DEPTH):
            below: list[Any] = []
            for parent in level:
                below += parent.values() if isinstance(parent, Mapping) else parent if isinstance(parent, list) else ()
            level = below
        if level:
            raise InvalidRuleError([RuleProblem(shorten(name), f"Nested too deeply: at most {MAX_DEPTH} levels.")])
    if size_of(document) > MAX_BYTES:
        largest = max(document, key=lambda name: (len(str(name)) + size_of({"": document[name]}), str(name)))
        detail = f"The rule is too large: at most {MAX_BYTES // 1024} KB of JSON."
        raise InvalidRuleError([RuleProblem(shorten(largest), detail)])


def size_of(document: Mapping[str, Any]) -> int:
    """Return the size of a document as JSON, in bytes."""
    return len(json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def problems_of_default(document: Mapping[str, Any]) -> list[RuleProblem]:
    """Return what a document of the default rule must not contain."""
    reason = "The default rule applies where no other one does, so it needs no"
    problems = [RuleProblem(name, f"{reason} {name}.") for name in ("extends", "conditions") if document.get(name)]
    if document.get("enabled") is False:
        detail = "The default rule cannot be disabled: it applies where no other one does."
        problems.append(RuleProblem("enabled", detail))
    return problems


def changed_document(name: str, before: Mapping[str, Any], changes: Any) -> Document:
    """Return a rule's document with changes merged in: objects member by member. Raises InvalidRuleError."""
    if not isinstance(changes, Mapping):
        raise InvalidRuleError([RuleProblem("", "Expected a JSON object.")])
    if changes.get("name", name) != name:
        raise InvalidRuleError([RuleProblem("name", "A rule keeps its name.")])
    validate_document({**changes, "name": name})
    return validate_document(deep_merge(before, changes))
