"""Forgetting of rules that hold for one user only, and of their history."""

from collections.abc import Iterator

from django.db.models import Q, QuerySet

from apps.core.domain.errors import MemoryHubError
from apps.core.personal.erase import delete_in_parts
from apps.core.personal.store import PersonalStore
from apps.core.steps import Step, no_step
from apps.rules.models import MergeRule, MergeRuleVersion
from apps.rules.services import rule_delete

ACTOR = "erasure"


class RuleErasure(PersonalStore):
    """Counts, forgets and finds rules whose conditions name a user."""

    def count(self, user_id: str) -> int:
        return rules_for(user_id).count() + changes_for(user_id).count()

    def obstacles(self, user_id: str, *, full: bool) -> Iterator[str]:
        own = set(rules_for(user_id).values_list("name", flat=True))
        for heir in MergeRule.objects.exclude(name__in=own):
            if heir.document.get("extends") in own:
                yield f"the rule {heir.document['extends']} is for this user only, and {heir.name} extends it"

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        # Those that extend another one of theirs go first, whatever the order of their names.
        names = list(rules_for(user_id).values_list("name", flat=True))
        while names:
            left = [name for name in names if not is_deleted(name)]
            if left == names:
                break
            yield len(names) - len(left)
            names = left
        yield from delete_in_parts(changes_for(user_id))

    def find(self, user_id: str) -> Iterator[str]:
        if rules_for(user_id).exists():
            yield "rules_mergerule"
        if changes_for(user_id).exists():
            yield "rules_mergeruleversion"


def is_deleted(name: str) -> bool:
    """Delete a rule; return False where another one still extends it."""
    try:
        rule_delete(name=name, actor=ACTOR)
    except MemoryHubError:
        return False
    return True


def rules_for(user_id: str) -> QuerySet[MergeRule]:
    """Return the rules whose conditions name a user."""
    return MergeRule.objects.filter(document__conditions__user_id=user_id)


def changes_for(user_id: str) -> QuerySet[MergeRuleVersion]:
    """Return the changes of rules that had such a condition before or after."""
    before, after = Q(before__conditions__user_id=user_id), Q(after__conditions__user_id=user_id)
    return MergeRuleVersion.objects.filter(before | after)
