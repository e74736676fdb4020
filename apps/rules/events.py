"""What the registry of rules tells of its changes (spec 000 "Rule events")."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from apps.events.domain.payload import EventPayload


@dataclass(frozen=True, kw_only=True)
class RuleChange(EventPayload):
    """configuration: the document of the rule, as JSON text. version: that of the registry after the change."""

    rule_name: str
    configuration: str
    version: int
    actor: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class RuleRegistered(RuleChange):
    """There is a new rule, or a deleted one is back."""

    name: ClassVar[str] = "rule:registered"


@dataclass(frozen=True, kw_only=True)
class RuleUpdated(RuleChange):
    """A rule says something else now; `configuration` is what it says."""

    name: ClassVar[str] = "rule:updated"


@dataclass(frozen=True, kw_only=True)
class RuleDeleted(RuleChange):
    """A rule is gone; `configuration` is what it said."""

    name: ClassVar[str] = "rule:deleted"
