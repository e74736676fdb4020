"""Undoing what a person decided about decisions: exact, once, and refused where something changed since."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import ConflictError, NotFoundError
from apps.core.domain.scope import Access, Permission, Scope, system_access
from apps.rules.services import rule_register
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.domain.review_queue import QueueFilter, QueueView, ReviewStep, band_of
from apps.semantic.models import Conflict, Memory, ReviewState
from apps.semantic.services import (
    Review,
    alike_of,
    batch_accept,
    batch_undo,
    conflict_accept,
    conflict_review,
    count_alike,
    memory_delete,
    memory_save,
    queue_counts,
    queue_ids,
    review_undo,
)
from tests.threads import outcomes_at_once

pytestmark = pytest.mark.django_db

AUDIT = {"updated_at", "version"}
LISBON, NOT_LISBON = "Ana lives in Lisbon.", "Ana does not live in Lisbon."
BREAD = "Ana bakes rye bread with caraway seeds every Sunday."
RITA, BOB = system_access("admin:rita"), system_access("admin:bob")
OPEN, ACCEPTED = ReviewState.OPEN, ReviewState.ACCEPTED
Decide = Callable[..., Conflict]


@pytest.fixture
def decide(access: Access) -> Decide:
    """Save two memories that disagree, and return the receipt."""

    def save(
        first: str = LISBON, second: str = NOT_LISBON, user: str = "ana", household: str | None = None
    ) -> Conflict:
        for content in (first, second):
            result = memory_save(access=access, draft=MemoryDraft(content, scope=Scope(user, household)))
        return Conflict.objects.get(uuid=result.conflict)

    return save


def rows() -> list[dict[str, Any]]:
    """Return every memory byte for byte, but for the columns of the audit, and without what was deleted."""
    found = Memory.objects.exclude(status="deleted").order_by("id").values()
    return [{name: value for name, value in row.items() if name not in AUDIT} for row in found]


def reviews(*receipts: Conflict) -> list[tuple[Any, ...]]:
    found = Conflict.objects.filter(pk__in=[one.pk for one in receipts]).order_by("pk")
    return list(found.values_list("state", "reviewed_by", "reviewed_at"))


def take(receipt: Conflict, step: str, seen: ReviewState = OPEN, access: Access = RITA) -> Review:
    return conflict_review(access=access, uuid=receipt.uuid, step=ReviewStep(step), seen=seen)


@pytest.mark.parametrize("step", ["accept", "existing", "both", "revert"])
def test_undo_restores_memories_and_review_exactly(decide: Decide, step: str) -> None:
    receipt = decide()
    memories, before = rows(), reviews(receipt)
    review = take(receipt, step)
    assert reviews(receipt) != before
    review_undo(access=RITA, uuid=receipt.uuid, at=review.at)
    assert (rows(), reviews(receipt)) == (memories, before)


@pytest.mark.parametrize("step", ["candidate", "existing", "both", "revert"])
def test_undo_restores_merge_exactly(decide: Decide, step: str) -> None:
    detection = {"keyword_threshold": 0.6, "restate_threshold": 0.6}
    rule_register(
        document={"name": "merging", "detection": detection, "arbitration": {"priority_recency": False}}, actor="test"
    )
    receipt = decide(BREAD, f"{BREAD[:-1]} morning.")
    assert receipt.outcome == "merged"
    memories, before = rows(), reviews(receipt)
    review = take(receipt, step)
    review_undo(access=RITA, uuid=receipt.uuid, at=review.at)
    assert (rows(), reviews(receipt)) == (memories, before)


def test_undo_of_override_of_accepted_decision_brings_back_who_accepted_it_and_when(decide: Decide) -> None:
    receipt = decide()
    take(receipt, "accept", access=BOB)
    memories, before = rows(), reviews(receipt)
    assert before[0][:2] == ("accepted", "admin:bob")
    review = take(receipt, "existing", ACCEPTED)
    review_undo(access=RITA, uuid=receipt.uuid, at=review.at)
    assert (rows(), reviews(receipt)) == (memories, before)


def test_undo_can_be_taken_after_undo_again_and_again(decide: Decide) -> None:
    receipt = decide()
    memories, before = rows(), reviews(receipt)
    for step in ("existing", "accept", "both", "revert", "existing"):
        review = take(receipt, step)
        review_undo(access=RITA, uuid=receipt.uuid, at=review.at)
        assert (rows(), reviews(receipt)) == (memories, before)


def test_undo_is_refused_once_it_was_done_or_another_person_decided(decide: Decide) -> None:
    receipt = decide()
    first = take(receipt, "accept")
    review_undo(access=RITA, uuid=receipt.uuid, at=first.at)
    with pytest.raises(ConflictError, match="open again"):
        review_undo(access=RITA, uuid=receipt.uuid, at=first.at)
    second = take(receipt, "accept")
    take(receipt, "existing", ACCEPTED, BOB)
    before = (rows(), reviews(receipt))
    with pytest.raises(ConflictError, match="overridden by admin:bob"):
        review_undo(access=RITA, uuid=receipt.uuid, at=second.at)
    assert (rows(), reviews(receipt)) == before


def test_nobody_undoes_what_another_person_decided(decide: Decide) -> None:
    receipt = decide()
    review = take(receipt, "accept")
    with pytest.raises(ConflictError, match="accepted by admin:rita"):
        review_undo(access=BOB, uuid=receipt.uuid, at=review.at)
    assert reviews(receipt)[0][0] == "accepted"


def test_undo_is_refused_when_a_memory_changed_since_and_changes_nothing(decide: Decide, access: Access) -> None:
    receipt = decide()
    review = take(receipt, "existing")
    memory_delete(access=access, uuid=receipt.existing.uuid)
    before = (rows(), reviews(receipt), Conflict.objects.count())
    with pytest.raises(ConflictError, match="deleted by test"):
        review_undo(access=RITA, uuid=receipt.uuid, at=review.at)
    assert (rows(), reviews(receipt), Conflict.objects.count()) == before


def test_receipt_of_a_person_is_not_opened_for_review(decide: Decide) -> None:
    receipt = decide()
    review = take(receipt, "existing")
    answer = Conflict.objects.get(about=receipt)
    with pytest.raises(ConflictError, match="receipt of a person's decision"):
        review_undo(access=RITA, uuid=answer.uuid, at=review.at)


def test_accepting_again_keeps_who_accepted_first(decide: Decide) -> None:
    receipt = decide()
    conflict_accept(access=BOB, uuid=receipt.uuid)
    before = reviews(receipt)
    conflict_accept(access=RITA, uuid=receipt.uuid)
    assert reviews(receipt) == before


def test_bound_access_neither_decides_nor_undoes_outside_its_household(decide: Decide) -> None:
    receipt = decide(household="home")
    other = Access(Scope(household_id="cabin"), Permission.WRITE, "admin:rita")
    with pytest.raises(NotFoundError):
        take(receipt, "accept", access=other)
    review = take(receipt, "accept")
    with pytest.raises(NotFoundError):
        review_undo(access=other, uuid=receipt.uuid, at=review.at)
    assert queue_counts(other).views[QueueView.ASKED] == 0
    assert queue_ids(other, QueueFilter(view=QueueView.MINE), limit=10) == []


def test_all_alike_are_accepted_and_opened_again_as_one(decide: Decide) -> None:
    same = [decide(user=f"user {number}") for number in range(4)]
    later_accepted, noticed = same[0], decide("Ana spent $12 on postcards.", "Ana spent $15 on postcards.", "cem")
    alike = alike_of(same[3])
    decide(user="later")
    assert count_alike(RITA, alike) == 4
    take(later_accepted, "accept", access=BOB)
    before = reviews(*same, noticed)
    at = utcnow(SYSTEM_CLOCK)
    report = batch_accept(access=RITA, alike=alike, at=at)
    assert (report.count, report.is_last) == (3, True)
    assert [state for state, _, _ in reviews(*same, noticed)] == ["accepted"] * 4 + ["open"]
    take(same[1], "existing", ACCEPTED, BOB)
    assert batch_undo(access=BOB, alike=alike, at=at).count == 0
    assert batch_undo(access=RITA, alike=alike, at=at).count == 2
    after = reviews(*same, noticed)
    assert after[1][0] == "overridden"
    assert [after[place] for place in (0, 2, 3, 4)] == [before[place] for place in (0, 2, 3, 4)]


@pytest.mark.parametrize(
    ("confidence", "band"),
    [(0.0, (-1.0, 0.6)), (0.6, (-1.0, 0.6)), (0.61, (0.6, 0.8)), (0.9, (0.8, 0.9)), (1, (0.9, 1))],
)
def test_confidences_have_bands(confidence: float, band: tuple[float, float]) -> None:
    assert band_of(confidence) == band


@pytest.mark.django_db(transaction=True)
def test_two_people_who_decide_the_same_at_once_decide_it_once(decide: Decide) -> None:
    for number in range(6):
        receipt = decide(user=f"user {number}")
        outcomes = outcomes_at_once(
            lambda receipt=receipt: take(receipt, "accept", access=RITA),
            lambda receipt=receipt: take(receipt, "existing", access=BOB),
            lambda receipt=receipt: take(receipt, "revert", access=system_access("admin:cem")),
        )
        assert [type(one).__name__ for one in outcomes].count("Review") == 1
        refusals = [one for one in outcomes if isinstance(one, ConflictError)]
        assert len(refusals) == 2
        assert {one.code for one in refusals} <= {"already_accepted", "already_overridden", "already_reverted"}


@pytest.mark.django_db(transaction=True)
def test_accepting_all_alike_and_overriding_one_at_once_decide_each_once(decide: Decide) -> None:
    for number in range(4):
        same = [decide(user=f"user {number} {part}") for part in range(3)]
        alike, at = alike_of(same[0]), utcnow(SYSTEM_CLOCK)
        report, override = outcomes_at_once(
            lambda alike=alike, at=at: batch_accept(access=RITA, alike=alike, at=at),
            lambda same=same: take(same[1], "existing", access=BOB),
        )
        is_overridden = isinstance(override, Review)
        assert is_overridden or isinstance(override, ConflictError)
        assert report.count == (2 if is_overridden else 3)
        assert reviews(same[1])[0][:2] == (("overridden", "admin:bob") if is_overridden else ("accepted", "admin:rita"))
