"""The page *To clear up*: one pair a screen."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.semantic.selectors import Conflict, ReviewState, conflict_get, memories_savers
from apps.semantic.services import asked_ids, receipt_at
from apps.webui.actors import who
from apps.webui.clear_up.answers import DONE, Answer, answer_give, answer_take_back, read_token
from apps.webui.differing import differing
from apps.webui.pages import render_fragment, render_page
from apps.webui.person import Person
from apps.webui.problems import words_of

MAX_SHOWN = 500
SHOWN_CHARS = 600
# A badge has no room for more.
MAX_COUNTED = 99
ANSWERS = {one.value for one in Answer}


def waiting(person: Person) -> list[int]:
    """Return the keys of the receipts that a person is asked about, in the order in which they are asked."""
    return asked_ids(person.access, limit=MAX_SHOWN)


def badge_of(person: Person) -> dict[str, Any]:
    """Return how many pairs wait, for the place in the navigation."""
    count = len(waiting(person))
    shown = str(count) if count <= MAX_COUNTED else f"{MAX_COUNTED}+"
    return {"badge": count, "badge_shown": shown, "badge_as_of": utcnow(SYSTEM_CLOCK)}


def clear_up_badge(request: HttpRequest, person: Person) -> HttpResponse:
    """Show the live number beside *To clear up*."""
    return render_fragment(request, person, "webui/clear_up/badge.html", **badge_of(person))


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
    if answer not in ANSWERS or seen not in ReviewState.values:
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
