"""The queue of decisions: which wait for a person, which this person has reviewed, and how many of each view.

A page first takes the ids of its rows from an index that holds what it filters by, then reads the rows of these only.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from django.db import connection
from django.db.models import Count, F, Q, Window
from django.db.models.functions import Left, RowNumber, TruncDate

from apps.core.domain.scope import Access, Scope
from apps.rules.services import DecisionFigures
from apps.semantic.domain.review_queue import QueueFilter, QueueView
from apps.semantic.models import BY_RULES, IS_ASKED, Conflict, ConflictOutcome, Origin, ReviewState
from apps.semantic.querysets import ConflictQuerySet

MAX_LISTED = 500
# So many new questions a person gets in a day.
ASKED_A_DAY = 5
EXCERPT_CHARS = 160
# Each word of a search is a condition on two texts.
MAX_SEARCH_WORDS = 8
# Large columns that no list shows.
DOCUMENTS = ("rule", "signals", "records", "merge", "others", "transitions")
COUNT_GROUPS = "SELECT outcome, rule_name, count(*) FROM ({}) AS newest GROUP BY 1, 2"
VIEWS = {
    QueueView.ASKED: IS_ASKED,
    QueueView.NOTICED: IS_ASKED & Q(outcome=ConflictOutcome.NOTICED),
    QueueView.WEAK: IS_ASKED & ~Q(outcome=ConflictOutcome.NOTICED),
    QueueView.LOG: ~IS_ASKED,
    QueueView.MERGED: Q(outcome=ConflictOutcome.MERGED),
}
# More than a person looks through: a bigger number says nothing new, and costs time on every page.
MAX_COUNTED = 10_000
MAX_RULES = 500
# The states of decisions that people took back.
UNDONE = (ReviewState.REVERTED, ReviewState.OVERRIDDEN)


@dataclass(frozen=True)
class QueueCounts:
    """How many decisions each view has, at most MAX_COUNTED. rules: of those asked about, by the name of their rule.

    A log only grows, so it is not counted.
    """

    views: dict[QueueView, int]
    rules: dict[str, int] = field(default_factory=dict)


def queue_ids(access: Access, wanted: QueueFilter, *, limit: int) -> list[int]:
    """Return the keys of the receipts that a list shows, in its order: the newest first, or the latest review first.

    limit: at most so many, and at most MAX_LISTED.
    """
    found = mine(access, wanted) if wanted.view is QueueView.MINE else waiting(access, wanted)
    return list(found.values_list("pk", flat=True)[: min(limit, MAX_LISTED)])


def waiting(access: Access, wanted: QueueFilter) -> ConflictQuerySet:
    """Return the open receipts that a filter means, the newest first: to be decided, or in the log."""
    found = Conflict.objects.visible_to(access).filter(state=ReviewState.OPEN)
    return narrowed(found.filter(VIEWS[wanted.view]), wanted).order_by("-id")


def asked_ids(access: Access, *, limit: int) -> list[int]:
    """Return the keys of the receipts that a person is asked about, the newest first.

    Nothing was decided about them. Of one memory there is one question, and of one day and user there are at most
    ASKED_A_DAY, the gravest: what else was noticed is in the log, and in the queue of operators.
    """
    gravest = [F("total_score").desc(), F("id").desc()]
    found = (
        Conflict.objects.visible_to(access)
        .filter(state=ReviewState.OPEN, outcome=ConflictOutcome.NOTICED)
        .annotate(
            of_candidate=Window(RowNumber(), partition_by=[F("candidate_id")], order_by=gravest),
            of_existing=Window(RowNumber(), partition_by=[F("existing_id")], order_by=gravest),
        )
        .filter(of_candidate=1, of_existing=1)
        .annotate(of_day=Window(RowNumber(), partition_by=[F("user_id"), TruncDate("at")], order_by=gravest))
        .order_by("-pk")
        .values_list("pk", "of_day")
    )
    return [key for key, place in found if place <= ASKED_A_DAY][: min(limit, MAX_LISTED)]


def decided(access: Access) -> ConflictQuerySet:
    """Return the decisions in force about the caller's memories, of rules, models and people, the newest first."""
    waiting_notices = Q(outcome=ConflictOutcome.NOTICED, state=ReviewState.OPEN)
    found = Conflict.objects.visible_to(access).in_force().exclude(waiting_notices).exclude(origin=Origin.REVERT)
    return found.select_related("candidate", "existing", "result").newest_first()


def mine(access: Access, wanted: QueueFilter) -> ConflictQuerySet:
    """Return the decisions of rules that the caller has reviewed, the latest review first."""
    found = Conflict.objects.visible_to(access).filter(reviewed_by=access.actor, reviewed_at__isnull=False)
    found = found.filter(origin__in=BY_RULES).exclude(state__in=(ReviewState.OPEN, ReviewState.OUTDATED))
    return narrowed(found, wanted).order_by("-reviewed_at", "-id")


def narrowed(found: ConflictQuerySet, wanted: QueueFilter) -> ConflictQuerySet:
    """Return those of some receipts that match everything that a filter names besides its view."""
    exact = {"rule_name": wanted.rule, "user_id": wanted.user_id, "household_id": wanted.household_id}
    found = found.filter(**{name: value for name, value in exact.items() if value})
    for word in wanted.words.split()[:MAX_SEARCH_WORDS]:
        found = found.filter(Q(candidate__content__icontains=word) | Q(existing__content__icontains=word))
    return found


def queue_rows(access: Access, keys: Sequence[int]) -> list[Conflict]:
    """Return receipts in the order of their keys, with the beginning and the status of each of their memories.

    Those that the caller may not see, or that are gone, are left out.
    """
    shown = {f"{side}_text": Left(f"{side}__content", EXCERPT_CHARS) for side in ("candidate", "existing")}
    statuses = {f"{side}_status": F(f"{side}__status") for side in ("candidate", "existing")}
    rows = Conflict.objects.visible_to(access).defer(*DOCUMENTS).annotate(**shown, **statuses).in_bulk(list(keys))
    return [rows[key] for key in keys if key in rows]


def queue_counts(access: Access) -> QueueCounts:
    """Count the decisions of each view, in one pass over the newest that wait, at most MAX_COUNTED."""
    columns = waiting(access, QueueFilter()).values_list("outcome", "rule_name")[:MAX_COUNTED]
    inner, parameters = columns.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(COUNT_GROUPS.format(inner), parameters)
        groups = cursor.fetchall()
    outcomes, rules = Counter[str](), Counter[str]()
    for outcome, rule, count in groups:
        outcomes[outcome] += count
        rules[rule] += count
    noticed = outcomes[ConflictOutcome.NOTICED]
    reviewed = mine(access, QueueFilter()).order_by().values("pk")[:MAX_COUNTED].count()
    views = {
        QueueView.ASKED: outcomes.total(),
        QueueView.NOTICED: noticed,
        QueueView.WEAK: outcomes.total() - noticed,
        QueueView.MINE: reviewed,
    }
    return QueueCounts(views, {rule: count for rule, count in rules.most_common() if rule})


def queue_count(access: Access, wanted: QueueFilter, at_most: int) -> int:
    """Count the receipts that a list shows; not more than `at_most`."""
    found = mine(access, wanted) if wanted.view is QueueView.MINE else waiting(access, wanted)
    return found.values("pk")[:at_most].count()


def visible_keys(access: Access, keys: Sequence[int]) -> set[int]:
    """Return which of these receipts the caller may see."""
    return set(Conflict.objects.visible_to(access, Scope()).filter(pk__in=keys).values_list("pk", flat=True))


def receipt_at(access: Access, key: int) -> Conflict | None:
    """Return a receipt of the caller's by its key, with what its page shows; None where there is none."""
    memories = [f"{side}{by}" for side in ("candidate", "existing", "result") for by in ("", "__superseded_by")]
    return Conflict.objects.visible_to(access).select_related("about", *memories).filter(pk=key).first()


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
