"""What the registry of rules tells of its changes (spec 000 "Rule events")."""

from typing import ClassVar

from apps.events.domain.payload import EventPayload, Moment, Text


class RuleChange(EventPayload):
    """configuration: the document of the rule, as JSON text. version: that of the registry after the change."""

    rule_name: Text
    configuration: Text
    version: int
    actor: Text
    at: Moment


class RuleRegistered(RuleChange):
    """There is a new rule, or a deleted one is back."""

    name: ClassVar[str] = "rule:registered"


class RuleUpdated(RuleChange):
    """A rule says something else now; `configuration` is what it says."""

    name: ClassVar[str] = "rule:updated"


class RuleDeleted(RuleChange):
    """A rule is gone; `configuration` is what it said."""

    name: ClassVar[str] = "rule:deleted"
