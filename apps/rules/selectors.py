"""Reads of the registry of rules, which other apps import from here."""

import hashlib
import json
from dataclasses import dataclass

from django.db.models import QuerySet

from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import IDENTIFIERS, Access, system_access
from apps.rules.domain.documents.inheritance import lineage
from apps.rules.domain.documents.rule import DEFAULT_RULE, Document, RuleConfig, match
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
    "document_mark",
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
    """A rule with all settings that it inherits, and the version of the registry at which it was read."""

    rule: RuleConfig
    version: int


def registry_version() -> int:
    """Return the number of changes that the registry has seen."""
    return RegistryVersion.objects.filter(pk=1).values_list("version", flat=True).first() or 0


def rules_visible(access: Access) -> list[RuleConfig]:
    """Return the rules that a caller may see, in the order in which they are tried."""
    known = active_rules()
    return [rule for rule in known.ordered() if is_visible(access, rule, known)]


def rule_resolved(access: Access, name: str) -> RuleConfig:
    """Return a rule with all settings that it inherits. Raises NotFoundError."""
    known = active_rules()
    rule = known.rules.get(name)
    if rule is None or not is_visible(access, rule, known):
        raise NotFoundError(NO_SUCH_RULE)
    return rule


def rule_get(access: Access, name: str) -> Document:
    """Return a rule as it was given. Raises NotFoundError."""
    known = active_rules()
    rule = known.rules.get(name)
    # A broken rule has no conditions to compare with a bound, so a key with a bound does not see it.
    is_hidden = not access.bound.is_everything if rule is None else not is_visible(access, rule, known)
    if name not in known.documents or is_hidden:
        raise NotFoundError(NO_SUCH_RULE)
    return known.documents[name]


def rules_export(access: Access) -> list[Document]:
    """Return all rules that the caller may see, as they were given and as `rules_load` accepts them."""
    known = active_rules()
    if not access.bound.is_everything:
        return [known.documents[rule.name] for rule in rules_visible(access) if rule.name in known.documents]
    return [known.documents[name] for name in sorted(known.documents)]


def find_matching_rule(
    candidate: MemoryRecord, existing: MemoryRecord | None = None, access: Access = SYSTEM
) -> MatchedRule:
    """Return the rule for a conflict of two memories (spec 000 "Conditional rule matching").

    The conditions concern the candidate, which is what is decided about. Enabled rules that the caller may see are
    tried by descending priority, then by name, but see `match` for guesses; the default rule applies when none matches.
    """
    known = active_rules()
    rules = [rule for rule in known.rules.values() if is_visible(access, rule, known)]
    return MatchedRule(match(rules, candidate) or known.rules[DEFAULT_RULE], known.version)


def rule_history(name: str) -> QuerySet[MergeRuleVersion]:
    """Return every change of a rule, the newest first."""
    return MergeRuleVersion.objects.filter(rule_name=name)


def document_mark(document: Document) -> str:
    """Return a short name of a document among the rules as they are, by which a form says what was rehearsed."""
    text = json.dumps([document, active_rules().stamp], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def is_visible(access: Access, rule: RuleConfig, known: RuleSet) -> bool:
    """Return whether a caller may see a rule.

    Every user, household and persona that the rule, or a rule that it extends, names must be one that the key is bound
    to, and no user who has stopped it. A key without a bound sees all others.
    """
    bound = access.bound.named()
    if access.bound.is_everything or rule.name not in known.documents:
        return True
    for name in lineage(rule.name, known.documents):
        ancestor = known.rules.get(name)
        if ancestor is None:
            return False
        named = {name: getattr(ancestor.conditions, name) for name in IDENTIFIERS}
        if named["user_id"] in access.bound.without:
            return False
        if bound and any(value is not None and bound.get(name) != value for name, value in named.items()):
            return False
    return True


def shown_version(access: Access, version: int) -> int | None:
    """Return the version of the registry; None for a key with a bound, which must not count the changes of others."""
    return version if access.bound.is_everything else None
