"""Hub events about changes of rules (spec 000 "Rule events")."""

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
    """A rule was added, or a deleted one restored."""

    name: ClassVar[str] = "rule:registered"


class RuleUpdated(RuleChange):
    """A rule was changed; `configuration` is its document now."""

    name: ClassVar[str] = "rule:updated"


class RuleDeleted(RuleChange):
    """A rule was deleted; `configuration` is its last document."""

    name: ClassVar[str] = "rule:deleted"
