"""The store of rules."""

from apps.rules.models import MergeRule, MergeRuleVersion
from apps.rules.personal.erase import RuleErasure
from apps.rules.personal.rules import RuleTransfer


class RuleStore(RuleErasure, RuleTransfer):
    """Rules and their history: their conditions may name a user."""

    name = "rules"
    order = 5
    models = (MergeRule, MergeRuleVersion)


STORES = (RuleStore(),)
