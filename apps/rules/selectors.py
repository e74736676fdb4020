"""Reads of the registry of rules."""

from dataclasses import dataclass

from django.db.models import QuerySet

from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import Access, system_access
from apps.rules.domain.documents.inheritance import lineage
from apps.rules.domain.documents.rule import DEFAULT_RULE, Conditions, Document, RuleConfig, match
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.models import MergeRule, MergeRuleVersion, RegistryVersion
from apps.rules.registry import RuleSet, active_rules, resolve_all

__all__ = [
    "NO_SUCH_RULE",
    "MatchedRule",
    "MergeRule",
    "MergeRuleVersion",
    "RegistryVersion",
    "RuleSet",
    "active_rules",
    "find_matching_rule",
    "is_visible",
    "registry_version",
    "resolve_all",
    "rule_get",
    "rule_history",
    "rule_resolved",
    "rules_export",
    "rules_visible",
    "shown_version",
]

NO_SUCH_RULE = "There is no such rule."
SYSTEM = system_access()


@dataclass(frozen=True)
class MatchedRule:
    """A rule with all that it inherits, and the version of the registry that it was read at."""

    rule: RuleConfig
    version: int


def registry_version() -> int:
    """How many changes the registry has seen."""
    return RegistryVersion.objects.filter(pk=1).values_list("version", flat=True).first() or 0


def rules_visible(access: Access) -> list[RuleConfig]:
    """The rules that a caller may know of, in the order in which they are asked."""
    known = active_rules()
    return [rule for rule in known.ordered() if is_visible(access, rule, known)]


def rule_resolved(access: Access, name: str) -> RuleConfig:
    """A rule with all that it inherits. Raises NotFoundError."""
    known = active_rules()
    rule = known.rules.get(name)
    if rule is None or not is_visible(access, rule, known):
        raise NotFoundError(NO_SUCH_RULE)
    return rule


def rule_get(access: Access, name: str) -> Document:
    """A rule as it was given. Raises NotFoundError."""
    known = active_rules()
    rule = known.rules.get(name)
    if name not in known.documents or (rule is not None and not is_visible(access, rule, known)):
        raise NotFoundError(NO_SUCH_RULE)
    if rule is None and access.bound.named():
        raise NotFoundError(NO_SUCH_RULE)
    return known.documents[name]


def rules_export(access: Access) -> list[Document]:
    """All rules that the caller may know of, as they were given: what `rules_load` takes."""
    known = active_rules()
    if access.bound.named():
        return [known.documents[rule.name] for rule in rules_visible(access) if rule.name in known.documents]
    return [known.documents[name] for name in sorted(known.documents)]


def find_matching_rule(
    candidate: MemoryRecord, existing: MemoryRecord | None = None, access: Access = SYSTEM
) -> MatchedRule:
    """The rule for a conflict of two memories (spec 000 "Conditional rule matching").

    The conditions are about the candidate: it is what is being decided about. Enabled rules are asked in order of
    priority, the highest first, of equal ones by name; the default rule is what is left. Only rules that the
    caller may know of are asked.
    """
    known = active_rules()
    rules = [rule for rule in known.rules.values() if is_visible(access, rule, known)]
    return MatchedRule(match(rules, candidate) or known.rules[DEFAULT_RULE], known.version)


def rule_history(name: str) -> QuerySet[MergeRuleVersion]:
    """Every change of a rule, the newest first."""
    return MergeRuleVersion.objects.filter(rule_name=name)


def is_visible(access: Access, rule: RuleConfig, known: RuleSet) -> bool:
    """Whether a caller may know of a rule.

    Every user and persona that the rule, or one that it extends, names must be one that the key is bound to. A key
    that is bound to nothing sees all.
    """
    bound = access.bound.named()
    if not bound or rule.name not in known.documents:
        return True
    chain = (known.rules.get(name) for name in lineage(rule.name, known.documents))
    return all(one is not None and _names_only(one.conditions, bound) for one in chain)


def _names_only(conditions: Conditions, bound: dict[str, str]) -> bool:
    named = {"user_id": conditions.user_id, "persona_id": conditions.persona_id}
    return all(value is None or bound.get(name) == value for name, value in named.items())


def shown_version(access: Access, version: int) -> int | None:
    """Return the version of the registry; None for a key with a bound, which must not count the changes of others."""
    return None if access.bound.named() else version
