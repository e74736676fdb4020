"""How rules inherit from the rules that they extend."""

from collections.abc import Collection, Mapping
from typing import Any

from apps.rules.domain.documents.problems import InvalidRuleError, RuleProblem
from apps.rules.domain.documents.rule import Document, RuleConfig, rule_from_document


def deep_merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> Document:
    """Return a new document: `base` with `changes`, objects merged member by member, other values replaced."""
    merged = dict(base)
    for name, value in changes.items():
        below = merged.get(name)
        both = isinstance(value, Mapping)
        merged[name] = deep_merge(below if isinstance(below, Mapping) else {}, value) if both else value
    return merged


def lineage(name: str, documents: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return a rule and the rules that it extends, itself first.

    Raise InvalidRuleError for a cycle or a missing base.
    """
    chain = [name]
    while (base := documents[chain[-1]].get("extends")) is not None:
        if base not in documents:
            raise InvalidRuleError([RuleProblem("extends", f"There is no rule {base!r}, which {chain[-1]!r} extends.")])
        if base in chain:
            circle = " -> ".join([*chain, base])
            raise InvalidRuleError([RuleProblem("extends", f"The rules extend each other in a circle: {circle}.")])
        chain.append(base)
    return chain


def resolve_document(name: str, documents: Mapping[str, Mapping[str, Any]]) -> Document:
    """Return the document of a rule with all settings that it inherits. Raise InvalidRuleError as `lineage` does."""
    resolved: Document = {}
    for ancestor in reversed(lineage(name, documents)):
        resolved = deep_merge(resolved, documents[ancestor])
    return {**resolved, "name": name, "extends": documents[name].get("extends")}


def resolve(name: str, documents: Mapping[str, Mapping[str, Any]]) -> RuleConfig:
    """Return a rule with all settings that it inherits, over any number of levels. Raise InvalidRuleError."""
    return rule_from_document(resolve_document(name, documents))


def check_resolvable(changed: Collection[str], documents: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise InvalidRuleError unless the changed rules, and the rules that extend them, can be resolved."""
    names = set(changed)
    for name in sorted(names & set(documents)):
        resolve(name, documents)
    for name in sorted(documents):
        try:
            chain = lineage(name, documents)
        except InvalidRuleError:
            continue  # it could not be used before either
        if names.isdisjoint(chain[1:]):
            continue
        try:
            resolve(name, documents)
        except InvalidRuleError as error:
            path, message = error.problems[0]
            detail = f"The rule {name!r}, which extends this one, could not be used any more: {message}"
            raise InvalidRuleError([RuleProblem(path, detail)]) from None
