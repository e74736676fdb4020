"""The store of rules."""

from apps.core.personal.store import PersonalStore
from apps.rules.models import MergeRule, MergeRuleVersion


class RuleStore(PersonalStore):
    """Rules and their history: their conditions may name a user."""

    name = "rules"
    order = 5
    models = (MergeRule, MergeRuleVersion)


STORES = (RuleStore(),)
