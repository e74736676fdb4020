"""What a person does about a decision of the queue, and how it is undone exactly.

An account and a moment name a review. To undo an acceptance opens the decision again; to undo an override or
a revert reverts its receipt, so that memories, states of reviews, reviewers and their times are what they were.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.errors import ConflictError
from apps.core.domain.scope import Access
from apps.semantic.conflicts.review import (
    Winner,
    changed_review,
    conflict_accept,
    conflict_override,
    conflict_revert,
    lock_receipt,
    revert_locked,
    set_review,
)
from apps.semantic.domain.review_queue import ReviewStep
from apps.semantic.models import BY_RULES, Conflict, ConflictOutcome, MemoryStatus, Origin, ReviewState
from apps.semantic.selectors import conflict_get
from apps.semantic.store.unit_of_work import unit_of_work

STEPS: dict[ReviewStep, Callable[..., Conflict]] = {
    ReviewStep.ACCEPT: conflict_accept,
    ReviewStep.CANDIDATE: partial(conflict_override, winner=Winner.CANDIDATE),
    ReviewStep.EXISTING: partial(conflict_override, winner=Winner.EXISTING),
    ReviewStep.BOTH: partial(conflict_override, winner=Winner.BOTH),
    ReviewStep.REVERT: conflict_revert,
}


@dataclass(frozen=True)
class Review:
    """What a person did about a decision. at: when; `review_undo` takes both."""

    receipt: UUID
    at: datetime


def conflict_review(
    *, access: Access, uuid: UUID, step: ReviewStep, seen: ReviewState, clock: Clock = SYSTEM_CLOCK
) -> Review:
    """Take a step about a decision whose review is as the caller saw it. Return what undoes it.

    Raises NotFoundError, or ConflictError as the services of the steps do, and when it was reviewed since.
    """
    receipt = STEPS[step](access=access, uuid=uuid, seen=seen, clock=clock)
    at = receipt.reviewed_at
    assert at is not None  # a step leaves either this receipt reviewed, or one of its own that is
    return Review(uuid, at)


def review_undo(*, access: Access, uuid: UUID, at: datetime, clock: Clock = SYSTEM_CLOCK) -> Conflict:
    """Undo what the caller did about a decision at a moment. Return the decision, which is as it was before.

    Raises NotFoundError, or ConflictError when it was reviewed again since, or when a memory has changed since.
    """
    user = conflict_get(access, uuid).user_id
    with unit_of_work(user, actor=access.actor, clock=clock) as unit:
        receipt = conflict_get(access, uuid)
        if (receipt.reviewed_by, receipt.reviewed_at) != (access.actor, at):
            raise changed_review(receipt)
        if receipt.state == ReviewState.ACCEPTED:
            if receipt.origin not in BY_RULES:
                raise ConflictError(
                    "This is the receipt of a person's decision: revert it instead.", code="not_a_decision"
                )
            set_review(receipt, ReviewState.OPEN, "", None)
        else:
            own = Conflict.objects.in_force().filter(about=receipt, actor=access.actor, at=at).order_by("id").last()
            if own is None:
                raise ConflictError("This decision has since been undone or replaced.", code="changed_since")
            revert_locked(conflict_get(access, own.uuid), unit)
    return conflict_get(access, uuid)


def decision_undo(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> None:
    """Undo a decision as a person means it: that of a person is as if it had not been, and after a rule's both hold.

    Unlike a revert it never removes what was saved. Raises NotFoundError, or ConflictError as the services of reviews.
    """
    receipt = conflict_get(access, uuid)
    if not can_be_undone(receipt):
        raise ConflictError("There is nothing to undo about this decision.", code="nothing_to_revert")
    if receipt.origin == Origin.OVERRIDE:
        conflict_revert(access=access, uuid=uuid, clock=clock)
    elif receipt.outcome == ConflictOutcome.NOTICED:
        with lock_receipt(access, uuid, clock) as (locked, _):
            set_review(locked, ReviewState.OPEN, "", None)
    else:
        conflict_override(access=access, uuid=uuid, winner=Winner.BOTH, clock=clock)


def can_be_undone(receipt: Conflict) -> bool:
    """Return whether `decision_undo` would change something. A noticed pair is asked about while both are there."""
    if not receipt.is_in_force or receipt.origin == Origin.REVERT:
        return False
    if receipt.outcome == ConflictOutcome.NOTICED:
        sides = (receipt.candidate, receipt.existing)
        return receipt.state == ReviewState.ACCEPTED and all(one.status == MemoryStatus.ACTIVE for one in sides)
    return receipt.origin == Origin.OVERRIDE or (
        bool(receipt.transitions) and receipt.outcome != ConflictOutcome.KEPT_BOTH
    )
