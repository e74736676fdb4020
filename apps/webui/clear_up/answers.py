"""What a person answers about two memories that disagree, and how the answer is taken back.

An answer is a review of the decision, as an operator's would be: it leaves a receipt that can be reverted. *Neither*
accepts the decision, and forgets what it left.
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.core import signing
from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.core.domain.errors import ConflictError
from apps.semantic.domain.review_queue import ReviewStep
from apps.semantic.selectors import Conflict, MemoryStatus, ReviewState, conflict_get
from apps.semantic.services import Review, conflict_review, memory_delete, memory_restore, review_undo
from apps.webui.person import Person

SALT = "webui.clear_up"


class Answer(StrEnum):
    """Which of two memories is right. new: the one that was saved last."""

    NEW = "new"
    OLD = "old"
    BOTH = "both"
    NEITHER = "neither"


STEPS = {Answer.NEW: ReviewStep.CANDIDATE, Answer.OLD: ReviewStep.EXISTING, Answer.BOTH: ReviewStep.BOTH}
DONE: dict[Answer, str | Promise] = {
    Answer.NEW: _("Noted: the new one is right."),
    Answer.OLD: _("Noted: the old one is right."),
    Answer.BOTH: _("Noted: both are right."),
    Answer.NEITHER: _("Both are forgotten."),
}


@dataclass(frozen=True)
class Given:
    """An answer that was given: about which receipt, when, and which memories were forgotten with it."""

    answer: str
    receipt: str
    at: str
    forgotten: tuple[str, ...] = ()

    def token(self, person: Person) -> str:
        """Return what takes the answer back, in the hands of this person only."""
        return signing.dumps(asdict(self), salt=f"{SALT}.{person.user_id}", compress=True)


def read_token(person: Person, token: str) -> Given | None:
    """Return the answer that a token of this person takes back; None for any other text."""
    try:
        found: dict[str, Any] = signing.loads(token, salt=f"{SALT}.{person.user_id}")
    except signing.BadSignature:
        return None
    return Given(found["answer"], found["receipt"], found["at"], tuple(found["forgotten"]))


@transaction.atomic
def answer_give(*, person: Person, uuid: UUID, answer: Answer, seen: ReviewState) -> Given:
    """Review a decision as a person answered. seen: the state that they were shown.

    Raises NotFoundError; ConflictError when it was reviewed since, or what `conflict_review` raises.
    """
    if answer is Answer.NEITHER:
        review = conflict_review(access=person.access, uuid=uuid, step=ReviewStep.ACCEPT, seen=seen)
        active = [memory.uuid for memory in active_of(conflict_get(person.access, uuid))]
        for one in active:
            memory_delete(access=person.access, uuid=one)
        return given(answer, review, active)
    try:
        with transaction.atomic():
            review = conflict_review(access=person.access, uuid=uuid, step=STEPS[answer], seen=seen)
    except ConflictError as error:
        if error.code != "decided_so":
            raise
        review = conflict_review(access=person.access, uuid=uuid, step=ReviewStep.ACCEPT, seen=seen)
    return given(answer, review, [])


def given(answer: Answer, review: Review, forgotten: list[UUID]) -> Given:
    """Return what takes an answer back."""
    return Given(answer.value, str(review.receipt), review.at.isoformat(), tuple(str(one) for one in forgotten))


@transaction.atomic
def answer_take_back(*, person: Person, given: Given) -> None:
    """Undo an answer: memories and the decision are as they were before.

    Raises NotFoundError, or ConflictError when one of them has changed since.
    """
    for uuid in reversed(given.forgotten):
        memory_restore(access=person.access, uuid=UUID(uuid))
    review_undo(access=person.access, uuid=UUID(given.receipt), at=datetime.fromisoformat(given.at))


def active_of(receipt: Conflict) -> list[Any]:
    """Return the memories of a receipt that assistants find now, each once."""
    sides = {one.pk: one for one in (receipt.candidate, receipt.existing, receipt.result) if one is not None}
    return [one for one in sides.values() if one.status == MemoryStatus.ACTIVE]
