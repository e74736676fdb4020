"""Counts and lists about receipts that pages need often: each reads a part of an index, never the table."""

from datetime import datetime
from typing import NamedTuple

from django.db import connection
from django.db.models import Count, Q

from apps.core.domain.scope import Access
from apps.rules.services import DecisionFigures
from apps.semantic.models import BY_RULES, IS_ASKED, Conflict, ConflictOutcome, ReviewState

# More than a person looks through: a bigger number says nothing new, and costs time on every page.
MAX_COUNTED = 10_000
MAX_RULES = 500
# The states of decisions that people took back.
UNDONE = (ReviewState.REVERTED, ReviewState.OVERRIDDEN)


class DecidedRule(NamedTuple):
    """A rule, as it was at one version, that decided something. version: of the registry, when the rule changed."""

    name: str
    version: int


def open_conflicts(access: Access, at_most: int = MAX_COUNTED) -> int:
    """Count the receipts that a person is to decide about; not more than `at_most`."""
    waiting = Conflict.objects.visible_to(access).filter(IS_ASKED, state=ReviewState.OPEN)
    return waiting.order_by("-id").values("id")[:at_most].count()


def decided_rules(access: Access | None = None) -> list[DecidedRule]:
    """List the rules and versions of them that have receipts, by name, the newest version first; at most MAX_RULES.

    Leaps from one to the next in the index, so the number of receipts makes no difference. access: of one with a bound
    only its own receipts count, since rules may be named after other people.
    """
    if access is not None and not access.bound.is_everything:
        own = Conflict.objects.visible_to(access).order_by("rule_name", "-rule_version")
        return [DecidedRule(*one) for one in own.values_list("rule_name", "rule_version").distinct()[:MAX_RULES]]
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH RECURSIVE leap AS ("
            "(SELECT rule_name, rule_version FROM semantic_conflict ORDER BY rule_name, rule_version LIMIT 1) "
            "UNION ALL SELECT next.rule_name, next.rule_version FROM leap, LATERAL ("
            "SELECT c.rule_name, c.rule_version FROM semantic_conflict c "
            "WHERE (c.rule_name, c.rule_version) > (leap.rule_name, leap.rule_version) "
            "ORDER BY c.rule_name, c.rule_version LIMIT 1) AS next) "
            "SELECT rule_name, rule_version FROM leap LIMIT %s",
            [MAX_RULES],
        )
        found = [DecidedRule(name, version) for name, version in cursor.fetchall()]
    return sorted(found, key=lambda rule: (rule.name, -rule.version))


def decisions_by_rule(access: Access, since: datetime) -> dict[str, DecisionFigures]:
    """Count what each rule decided since a moment, what of it decided nothing, and what people took back: one query."""
    made = Conflict.objects.visible_to(access).filter(origin__in=BY_RULES, at__gte=since).order_by()
    counted = made.values_list("rule_name").annotate(
        Count("id"),
        noticed=Count("id", filter=Q(outcome=ConflictOutcome.NOTICED)),
        undone=Count("id", filter=Q(state__in=UNDONE)),
    )
    return {name: DecisionFigures(*figures) for name, *figures in counted}
