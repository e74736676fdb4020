"""The rules as every process sees them, read once for each version of the registry."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from apps.rules.domain.documents.inheritance import resolve
from apps.rules.domain.documents.problems import InvalidRuleError
from apps.rules.domain.documents.rule import DEFAULT_RULE, Document, RuleConfig, by_priority, match, with_built_in
from apps.rules.domain.documents.validate import validate_document
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.models import MergeRule, RegistryVersion

logger = logging.getLogger(__name__)

# One statement, so that documents and version belong together whatever is committed concurrently.
_SNAPSHOT = f"""
    SELECT r.version, r.stamp::text, m.name, m.document::text, m.version
    FROM (SELECT 1) AS one
    LEFT JOIN {RegistryVersion._meta.db_table} r ON r.id = 1
    LEFT JOIN {MergeRule._meta.db_table} m ON true
"""  # noqa: S608  (names of our own tables)


@dataclass(frozen=True)
class RuleSet:
    """All rules at one version of the registry.

    documents: name -> as stored. rules: name -> with all settings that it inherits. broken: name -> why a stored rule
    cannot be used; it matches nothing. versions: name -> version of the registry when the rule last changed.
    """

    version: int
    stamp: str
    documents: Mapping[str, Document]
    rules: Mapping[str, RuleConfig]
    broken: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, int] = field(default_factory=dict)

    def ordered(self) -> list[RuleConfig]:
        """Return the rules in the order in which they are tried."""
        return by_priority(self.rules.values())

    def matching(self, candidate: MemoryRecord) -> RuleConfig:
        """Return the first rule whose conditions the candidate meets, else the default rule."""
        return match(self.rules.values(), candidate) or self.rules[DEFAULT_RULE]


_known: RuleSet | None = None


def active_rules() -> RuleSet:
    """Return the current rules, with one small query when nothing has changed since the last call in this process."""
    global _known
    known = _known
    stamp = RegistryVersion.objects.filter(pk=1).values_list("stamp", flat=True).first() if known else None
    if known is None or (str(stamp) if stamp else "") != known.stamp:
        _known = known = read_rules()
    return known


def read_rules() -> RuleSet:
    """Read all rules from the database."""
    with connection.cursor() as cursor:
        cursor.execute(_SNAPSHOT)
        rows = cursor.fetchall()
    stored = {name: json.loads(text) for _, _, name, text, _ in rows if name is not None}
    versions = {name: version for _, _, name, _, version in rows if name is not None}
    documents = with_built_in(stored, versions)
    rules, broken = resolve_all(documents)
    for name, problem in broken.items():
        logger.error("rule %r cannot be used: %s", name, problem)
    return RuleSet(rows[0][0] or 0, rows[0][1] or "", documents, rules, broken, versions)


def resolve_all(documents: Mapping[str, Any]) -> tuple[dict[str, RuleConfig], dict[str, str]]:
    """Return every rule with all settings that it inherits, and why the others cannot be used.

    The default rule is always among the first.
    """
    rules: dict[str, RuleConfig] = {}
    broken: dict[str, InvalidRuleError] = {}
    sound = dict(documents)
    for name, document in documents.items():
        try:
            validate_document(document)
        except InvalidRuleError as error:
            broken[name] = error
            del sound[name]
    for name in sound:
        try:
            rules[name] = resolve(name, sound)
        except InvalidRuleError as error:
            broken[name] = error
    rules.setdefault(DEFAULT_RULE, RuleConfig(name=DEFAULT_RULE))
    reasons = {
        name: "; ".join(f"{path}: {message}" for path, message in error.problems) for name, error in broken.items()
    }
    return rules, reasons
