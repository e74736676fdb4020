"""Accept all open decisions that are like one: a run of bounded batches, which is undone as one.

The person and the moment at which a run began name it: all that it accepts has this moment.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Func, JSONField, Value

from apps.core.domain.scope import Access
from apps.semantic.conflicts.review import ACCEPTED
from apps.semantic.domain.review_queue import Alike, band_of
from apps.semantic.models import BY_RULES, Conflict, ReviewState
from apps.semantic.querysets import ConflictQuerySet
from apps.semantic.store.unit_of_work import lock_shards

# Of one call, which is one transaction.
BATCH = 100
# More than a person accepts at once: a bigger number would only cost time.
MAX_ALIKE = 1_000


class SignalTypes(Func):
    """The types of the signals of a receipt, as a JSON array."""

    function = "jsonb_path_query_array"
    template = "%(function)s(%(expressions)s, '$[*].type')"
    output_field = JSONField()


@dataclass(frozen=True)
class BatchReport:
    """What a batch did. is_last: nothing of the run is left."""

    count: int
    is_last: bool


def alike_of(receipt: Conflict) -> Alike:
    """Return what makes another decision like this one, among those that there are by now."""
    newest = Conflict.objects.order_by("-id").values_list("id", flat=True).first()
    above, up_to = band_of(receipt.confidence)
    return Alike(
        rule_name=receipt.rule_name,
        rule_version=receipt.rule_version,
        outcome=str(receipt.outcome),
        signals=tuple(str(signal["type"]) for signal in receipt.signals),
        above=above,
        up_to=up_to,
        last=newest or 0,
    )


def decisions_alike(access: Access, alike: Alike, state: ReviewState = ReviewState.OPEN) -> ConflictQuerySet:
    """Return the decisions of rules in a state of review that are like one another, the newest first."""
    found = Conflict.objects.visible_to(access).filter(
        state=state,
        pk__lte=alike.last,
        rule_name=alike.rule_name,
        rule_version=alike.rule_version,
        outcome=alike.outcome,
        confidence__gt=alike.above,
        confidence__lte=alike.up_to,
        origin__in=BY_RULES,
    )
    types = found.annotate(types=SignalTypes("signals"))
    return types.filter(types=Value(list(alike.signals), output_field=JSONField())).order_by("-id")


def count_alike(access: Access, alike: Alike) -> int:
    """Count the open decisions that are like one another, at most MAX_ALIKE."""
    # In any order, so that the first MAX_ALIKE of them end the search.
    return decisions_alike(access, alike).order_by().values("pk")[:MAX_ALIKE].count()


def batch_accept(*, access: Access, alike: Alike, at: datetime) -> BatchReport:
    """Accept one batch of the open decisions that are like one another. at: when its run began."""
    review = (ReviewState.ACCEPTED, access.actor, at)
    report = review_batch(access, decisions_alike(access, alike), ReviewState.OPEN, review)
    ACCEPTED.inc(report.count)
    return report


def batch_undo(*, access: Access, alike: Alike, at: datetime) -> BatchReport:
    """Open one batch again of what a run of the caller has accepted, if it was not reviewed since."""
    accepted = decisions_alike(access, alike, ReviewState.ACCEPTED).filter(reviewed_by=access.actor, reviewed_at=at)
    return review_batch(access, accepted, ReviewState.ACCEPTED, (ReviewState.OPEN, "", None))


def review_batch(
    access: Access, found: ConflictQuerySet, state: ReviewState, review: tuple[ReviewState, str, datetime | None]
) -> BatchReport:
    """Set the review of the first BATCH of some receipts, which have a state, in a transaction of its own.

    Other writers of their users wait until it ends, so that nothing is decided twice.
    """
    chosen: Sequence[tuple[int, str]] = list(found.values_list("pk", "user_id")[:BATCH])
    if not chosen:
        return BatchReport(0, is_last=True)
    with transaction.atomic():
        lock_shards(user for _, user in chosen)
        rows = Conflict.objects.visible_to(access).filter(pk__in=[key for key, _ in chosen], state=state)
        count = rows.update(**dict(zip(("state", "reviewed_by", "reviewed_at"), review, strict=True)))
    return BatchReport(count, is_last=len(chosen) < BATCH)
