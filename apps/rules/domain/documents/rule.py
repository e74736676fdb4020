"""Rules: how a document becomes a configuration, how rules inherit, and which one matches (spec 000 "Configurable
Merge Rules").

A document is JSON in which everything but `name` may be missing. What is missing comes from the rule that it
extends, else from the defaults of the dataclasses here. `null` means missing, except under `conditions`, where it
takes an inherited condition away.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.rules.domain.documents.problems import InvalidRuleError, RuleProblem
from apps.rules.domain.documents.shape import Group, Setting, as_json, group_of
from apps.rules.domain.engine.arbitration import ArbitrationConfig
from apps.rules.domain.engine.merge import MergeConfig
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.signals import DetectionConfig

Document = dict[str, Any]
DEFAULT_RULE = "default"
MAX_NAME_CHARS = 100
MAX_PRIORITY = 1_000_000
NULL_SAYS_SOMETHING = "conditions"


@dataclass(frozen=True)
class ImportanceRange:
    """Both ends are included; None is open."""

    min: float | None = None
    max: float | None = None


@dataclass(frozen=True)
class Conditions:
    """The `conditions` section of a rule: what the candidate must be for the rule to match. None: anything."""

    user_id: str | None = None
    persona_id: str | None = None
    source: tuple[str, ...] = ()
    importance_range: ImportanceRange = field(default_factory=ImportanceRange)

    def match(self, candidate: MemoryRecord) -> bool:
        """Whether a memory meets every condition. Sources are compared without regard to case."""
        low, high = self.importance_range.min, self.importance_range.max
        return (
            self.user_id in {None, candidate.user_id}
            and self.persona_id in {None, candidate.persona_id}
            and (not self.source or _plain(candidate.source) in map(_plain, self.source))
            and (low is None or candidate.importance >= low)
            and (high is None or candidate.importance <= high)
        )


@dataclass(frozen=True)
class RuleConfig:
    """A rule with everything that it inherits. Its own name and `extends` are never inherited."""

    name: str
    extends: str | None = None
    enabled: bool = True
    priority: int = field(default=0, metadata={"min": -MAX_PRIORITY, "max": MAX_PRIORITY})
    description: str = field(default="", metadata={"min": 0, "max": 2_000})
    conditions: Conditions = field(default_factory=Conditions)
    detection: DetectionConfig = field(default_factory=DetectionConfig)
    arbitration: ArbitrationConfig = field(default_factory=ArbitrationConfig)
    merge: MergeConfig = field(default_factory=MergeConfig)

    def to_document(self) -> Document:
        """Every setting, as a document."""
        document: Document = as_json(self)
        return document


SHAPE = group_of(RuleConfig)


def rule_from_document(document: Mapping[str, Any]) -> RuleConfig:
    """The configuration that a checked document describes by itself, without what it inherits.

    Raises InvalidRuleError where values do not go together.
    """
    rule: RuleConfig = _made(SHAPE, document)
    problems = list(_inconsistencies(rule))
    if problems:
        raise InvalidRuleError(problems)
    return rule


def deep_merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> Document:
    """`base` with `changes`: objects are merged member by member, anything else is replaced. Gives a new document."""
    merged = dict(base)
    for name, value in changes.items():
        below = merged.get(name)
        both = isinstance(value, Mapping)
        merged[name] = deep_merge(below if isinstance(below, Mapping) else {}, value) if both else value
    return merged


def drop_nulls(document: Mapping[str, Any]) -> Document:
    """A document in which what is null is missing, except under `conditions`."""
    return {
        name: drop_nulls(value) if isinstance(value, Mapping) and name != NULL_SAYS_SOMETHING else value
        for name, value in document.items()
        if value is not None
    }


def lineage(name: str, documents: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A rule and the rules it extends, itself first. Raises InvalidRuleError for a cycle or a missing base."""
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
    """A rule's document with everything that it inherits. Raises InvalidRuleError as `lineage` does."""
    resolved: Document = {}
    for ancestor in reversed(lineage(name, documents)):
        resolved = deep_merge(resolved, documents[ancestor])
    own = documents[name]
    return {**resolved, "name": name, "extends": own.get("extends")}


def resolve(name: str, documents: Mapping[str, Mapping[str, Any]]) -> RuleConfig:
    """A rule with everything that it inherits, over any number of levels. Raises InvalidRuleError."""
    return rule_from_document(resolve_document(name, documents))


def heirs_of(names: Collection[str], documents: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """The rules that extend one of these, directly or not. Whatever cannot be resolved counts as none."""
    heirs: set[str] = set()
    for name in documents:
        try:
            chain = lineage(name, documents)
        except InvalidRuleError:
            continue
        if not set(names).isdisjoint(chain[1:]):
            heirs.add(name)
    return heirs


def check_resolvable(changed: Collection[str], documents: Mapping[str, Mapping[str, Any]]) -> None:
    """That the changed rules, and those that extend them, can be resolved among all. Raises InvalidRuleError."""
    for name in sorted(set(changed) & set(documents)):
        resolve(name, documents)
    for name in sorted(heirs_of(changed, documents)):
        try:
            resolve(name, documents)
        except InvalidRuleError as error:
            path, message = error.problems[0]
            told = f"The rule {name!r}, which extends this one, could not be used any more: {message}"
            raise InvalidRuleError([RuleProblem(path, told)]) from None


def by_priority(rules: Iterable[RuleConfig]) -> list[RuleConfig]:
    """In the order in which rules are asked: the highest priority first, of equal ones by name."""
    return sorted(rules, key=lambda rule: (-rule.priority, rule.name))


def match(rules: Iterable[RuleConfig], candidate: MemoryRecord) -> RuleConfig | None:
    """The first enabled rule, in order of priority, whose conditions the candidate meets; None for none.

    The default rule is not among those asked: it is what is left when this gives None.
    """
    fitting = (rule for rule in by_priority(rules) if rule.enabled and rule.name != DEFAULT_RULE)
    return next((rule for rule in fitting if rule.conditions.match(candidate)), None)


def _plain(source: str) -> str:
    return source.strip().casefold()


def _made(group: Group, values: Mapping[str, Any]) -> Any:
    return group.make({name: _value(member, values.get(name)) for name, member in group.members.items()})


def _value(member: Setting | Group, value: Any) -> Any:
    return _made(member, value or {}) if isinstance(member, Group) else member.made(value)


def _inconsistencies(rule: RuleConfig) -> Iterable[RuleProblem]:
    span = rule.conditions.importance_range
    if span.min is not None and span.max is not None and span.min > span.max:
        yield RuleProblem("conditions.importance_range.min", f"Must not be above the maximum of {span.max:g}.")
    if not rule.arbitration.weights.total > 0:
        yield RuleProblem("arbitration.weights", "The weights must sum to a positive number.")
    if not sum(rule.detection.weights.values()) > 0:
        yield RuleProblem("detection.weights", "The weights must sum to a positive number.")
