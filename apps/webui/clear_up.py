"""The page *To clear up*: one pair a screen, what a person answers, and the log of what was decided."""

from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core import signing
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import ConflictError, MemoryHubError, NotFoundError
from apps.semantic.domain.review_queue import ReviewStep
from apps.semantic.selectors import Conflict, MemoryStatus, ReviewState, conflict_get, memories_savers
from apps.semantic.services import (
    Review,
    asked_ids,
    can_be_undone,
    conflict_review,
    decided,
    memory_delete,
    memory_restore,
    receipt_at,
    review_undo,
)
from apps.webui.differing import differing
from apps.webui.pages import render_page
from apps.webui.person import Person, who
from apps.webui.problems import words_of

SALT = "webui.clear_up"
MAX_SHOWN = 500
SHOWN_CHARS = 600
# A badge has no room for more.
MAX_COUNTED = 99
DECIDED_SHOWN, DECIDED_CHARS = 20, 300


class Answer(StrEnum):
    """Which of two memories is right. new: the one that was saved last."""

    NEW = "new"
    OLD = "old"
    BOTH = "both"
    NEITHER = "neither"


STEPS = {Answer.NEW: ReviewStep.CANDIDATE, Answer.OLD: ReviewStep.EXISTING, Answer.BOTH: ReviewStep.BOTH}
DONE: dict[Answer, str | Promise] = {
    Answer.NEW: gettext_lazy("Noted: the new one is right."),
    Answer.OLD: gettext_lazy("Noted: the old one is right."),
    Answer.BOTH: gettext_lazy("Noted: both are right."),
    Answer.NEITHER: gettext_lazy("Both are forgotten."),
}
# What was decided, by the outcome of a receipt.
OUTCOMES: dict[str, str | Promise] = {
    "noticed": gettext_lazy("Both are true."),
    "kept_both": gettext_lazy("Both are true."),
    "superseded_existing": gettext_lazy("The new one is true; the one before is left out."),
    "kept_existing": gettext_lazy("The one before is true; the new one is left out."),
    "rejected": gettext_lazy("The new one was not taken over."),
    "merged": gettext_lazy("Both became one."),
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
    """Review a decision as a person answered, as an operator's review would be. seen: the state that they were shown.

    It leaves a receipt that can be reverted. *Neither* accepts the decision, and forgets what it left.
    Raises NotFoundError; ConflictError when it was reviewed since, or what `conflict_review` raises.
    """
    if answer is Answer.NEITHER:
        review = conflict_review(access=person.access, uuid=uuid, step=ReviewStep.ACCEPT, seen=seen)
        receipt = conflict_get(person.access, uuid)
        # Of its memories, each once, those that assistants find now.
        sides = {one.pk: one for one in (receipt.candidate, receipt.existing, receipt.result) if one is not None}
        active = [one.uuid for one in sides.values() if one.status == MemoryStatus.ACTIVE]
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


def waiting(person: Person) -> list[int]:
    """Return the keys of the receipts that a person is asked about, in the order in which they are asked."""
    return asked_ids(person.access, limit=MAX_SHOWN)


def badge_of(person: Person) -> dict[str, Any]:
    """Return how many pairs wait, for the place in the navigation."""
    count = len(waiting(person))
    shown = str(count) if count <= MAX_COUNTED else f"{MAX_COUNTED}+"
    return {"badge": count, "badge_shown": shown, "badge_as_of": utcnow(SYSTEM_CLOCK)}


def clear_up_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show the next pair. `after`: the key of the one to leave for later; `done`: what takes the last answer back."""
    keys = waiting(person)
    after = request.GET.get("after", "")
    place = keys.index(int(after)) + 1 if after.isdecimal() and int(after) in keys else 0
    receipt = receipt_at(person.access, keys[place]) if place < len(keys) else None
    token = request.GET.get("done", "")
    last = read_token(person, token) if token else None
    context: dict[str, Any] = {
        "receipt": receipt,
        "sides": sides_of(person, receipt) if receipt is not None else [],
        "total": len(keys),
        "number": place + 1,
        "is_full": len(keys) == MAX_SHOWN,
        "left_for_later": bool(keys) and receipt is None,
        "token": token if last is not None else "",
        "done": DONE[Answer(last.answer)] if last is not None else "",
    }
    return render_page(request, person, "webui/clear_up/page.html", _("To clear up"), **context)


def sides_of(person: Person, receipt: Conflict) -> list[dict[str, Any]]:
    """Return both memories, the newer one first, with who said each, the words that differ, and the answer for each."""
    memories = (receipt.candidate, receipt.existing)
    savers = memories_savers(person.access, [one.pk for one in memories])
    marked = differing(receipt.candidate.content, receipt.existing.content, SHOWN_CHARS)
    labels = ((Answer.NEW, _("New")), (Answer.OLD, _("Before")))
    return [
        {
            "answer": answer.value,
            "memory": memory,
            "label": label,
            "pieces": pieces,
            "who": who(savers.get(memory.pk, ""), person),
        }
        for (answer, label), memory, pieces in zip(labels, memories, marked, strict=True)
    ]


@require_POST
def clear_up_answer(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Take the answer about a pair of the person's, and show the next one."""
    try:
        conflict_get(person.access, uuid)
    except NotFoundError:
        raise Http404 from None
    back, answer, seen = reverse("webui:clear_up"), request.POST.get("answer", ""), request.POST.get("seen", "")
    if answer not in list(Answer) or seen not in ReviewState.values:
        messages.warning(request, _("Choose one of the answers."))
        return HttpResponseRedirect(back)
    try:
        given = answer_give(person=person, uuid=uuid, answer=Answer(answer), seen=ReviewState(seen))
    except MemoryHubError as error:
        messages.warning(request, words_of(error))
        return HttpResponseRedirect(back)
    return HttpResponseRedirect(f"{back}?done={given.token(person)}")


@require_POST
def clear_up_undo(request: HttpRequest, person: Person) -> HttpResponse:
    """Take an answer back, and ask again."""
    given = read_token(person, request.POST.get("token", ""))
    if given is None:
        messages.warning(request, _("This can no longer be taken back."))
    else:
        try:
            answer_take_back(person=person, given=given)
        except MemoryHubError as error:
            messages.warning(request, words_of(error))
        else:
            messages.success(request, _("Taken back."))
    return HttpResponseRedirect(reverse("webui:clear_up"))


def decided_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show what was decided, the newest first."""
    page = Paginator(decided(person.access), DECIDED_SHOWN).get_page(request.GET.get("page"))
    rows = [decided_row(person, receipt) for receipt in page]
    return render_page(request, person, "webui/clear_up/decided.html", _("What was decided"), page=page, rows=rows)


def decided_row(person: Person, receipt: Conflict) -> dict[str, Any]:
    """Return a decision as the log shows it."""
    old, new = differing(receipt.existing.content, receipt.candidate.content, DECIDED_CHARS)
    if receipt.origin in {"save", "consolidation"} and receipt.outcome != "noticed":
        by = _("A rule of the hub")
    elif receipt.origin == "judge":
        by = _("A chat model")
    else:
        by = who(receipt.reviewed_by or receipt.actor, person)
    return {
        "receipt": receipt,
        "old": old,
        "new": new,
        "words": OUTCOMES.get(receipt.outcome, ""),
        "who": by,
        "at": receipt.reviewed_at if receipt.outcome == "noticed" else receipt.at,
        "can_undo": can_be_undone(receipt),
    }
