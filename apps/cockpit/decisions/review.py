"""Decide, and undo: every change of the queue is a POST that calls a service with the access of the viewer."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext, ngettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from apps.cockpit.decisions.filters import MAX_NAME_CHARS, clean, drop_view, read_filter, save_view
from apps.cockpit.decisions.shown import as_key
from apps.cockpit.decisions.tokens import RUN, read_reviews, read_run, reviews_token
from apps.core.admin.kit import moment, operator_access
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Access
from apps.core.pages.sayings import say
from apps.core.words import Words
from apps.semantic import services
from apps.semantic.domain.review_queue import ReviewStep
from apps.semantic.selectors import Conflict, ReviewState, conflict_get

# What a person can choose at once, and a request has time for.
MAX_CHOSEN = 100
# What is said of one decision, and of several.
DONE = {
    ReviewStep.ACCEPT: (
        _("Accepted."),
        ngettext_lazy("Accepted: %(count)s decision.", "Accepted: %(count)s decisions.", "count"),
    ),
    ReviewStep.CANDIDATE: (
        _("Kept the candidate."),
        ngettext_lazy("Kept the candidate: %(count)s decision.", "Kept the candidate: %(count)s decisions.", "count"),
    ),
    ReviewStep.EXISTING: (
        _("Kept the existing memory."),
        ngettext_lazy(
            "Kept the existing memory: %(count)s decision.",
            "Kept the existing memory: %(count)s decisions.",
            "count",
        ),
    ),
    ReviewStep.BOTH: (
        _("Kept both."),
        ngettext_lazy("Kept both: %(count)s decision.", "Kept both: %(count)s decisions.", "count"),
    ),
    ReviewStep.REVERT: (
        _("Reverted."),
        ngettext_lazy("Reverted: %(count)s decision.", "Reverted: %(count)s decisions.", "count"),
    ),
}
STALE = _("Reload the page: it did not offer that choice.")


class Target(NamedTuple):
    """A decision to decide about, and the state of its review that the page showed."""

    key: int
    seen: ReviewState


@require_POST
def decisions_act(request: HttpRequest) -> HttpResponse:
    """Take a step about one or several decisions. Each is a transaction of its own, the newest first."""
    step, targets = request.POST.get("step", ""), targets_of(request.POST.getlist("receipt"))
    if step not in DONE or not targets or len(targets) > MAX_CHOSEN:
        return answer(request, STALE, status=400)
    access, chosen = operator_access(request), ReviewStep(step)
    done: list[services.Review] = []
    keys: list[int] = []
    refused: list[dict[str, Any]] = []
    for target in sorted(targets, reverse=True):
        receipt = services.receipt_at(access, target.key)
        if receipt is None:
            refused.append({"key": target.key, "reason": gettext("It no longer exists, and neither do its memories.")})
            continue
        try:
            review = services.conflict_review(access=access, uuid=receipt.uuid, step=chosen, seen=target.seen)
        except MemoryHubError as error:
            refused.append({"key": target.key, "reason": reason_of(access, receipt, target, error)})
            continue
        done.append(review)
        keys.append(target.key)
    one, several = DONE[chosen]
    sentence = several % {"count": len(done)} if len(targets) > 1 else str(one)
    return answer(
        request,
        sentence if done else "",
        undo=reviews_token(request, done) if done else None,
        done=keys,
        refused=refused,
    )


@require_POST
def decisions_undo(request: HttpRequest) -> HttpResponse:
    """Undo what a token names: some reviews, the last one first, or a batch of a run."""
    token = request.POST.get("token", "")
    if (run := read_run(request, token, RUN)) is not None and run.at is not None:
        report = services.batch_undo(access=operator_access(request), alike=run.alike, at=run.at)
        return answer(request, undone(report.count), count=report.count, is_last=report.is_last)
    reviews = read_reviews(request, token)
    if reviews is None:
        return answer(request, STALE, status=400)
    access = operator_access(request)
    restored: list[int] = []
    refused: list[dict[str, Any]] = []
    for review in reversed(reviews):
        try:
            receipt = services.review_undo(access=access, uuid=review.receipt, at=review.at)
            restored.append(receipt.pk)
        except MemoryHubError as error:
            refused.append({"key": None, "reason": say(str(error.detail))})
    sentence = undone(len(restored)) if restored else ""
    return answer(request, sentence, restored=restored, refused=refused, is_last=True, count=len(restored))


@require_POST
def decisions_views(request: HttpRequest) -> HttpResponse:
    """Save the present filter under a name, or remove a saved one, and return to the queue."""
    name = clean(request.POST.get("name", ""))[:MAX_NAME_CHARS]
    if removed := clean(request.POST.get("remove", "")):
        drop_view(request, removed)
    elif name and not save_view(request, name, read_filter(request.POST)):
        messages.warning(request, gettext("You cannot save any more views: remove one first."))
    return HttpResponseRedirect(back_url(request))


def targets_of(values: Iterable[str]) -> list[Target]:
    """Return what a form names as `key:state`; what cannot be read is left out."""
    found = []
    for value in values:
        text, _, state = value.partition(":")
        key = as_key(text)
        if key is not None and state in ReviewState.values:
            found.append(Target(key, ReviewState(state)))
    return found


def reason_of(access: Access, receipt: Conflict, target: Target, error: MemoryHubError) -> str:
    """Return why a step was refused: what another person did about the decision, where that is the reason."""
    try:
        now = conflict_get(access, receipt.uuid)
    except MemoryHubError:
        return say(str(error.detail))
    if now.state == target.seen or now.reviewed_at is None:
        return say(str(error.detail))
    by = now.reviewed_by.removeprefix("admin:")
    said = gettext("Not done: %(who)s got there first. It was %(state)s at %(time)s.")
    return said % {"who": by, "state": now.get_state_display().lower(), "time": moment(now.reviewed_at)}


def undone(count: int) -> str:
    """Return how many decisions were undone, in words."""
    return ngettext("Undone: %(count)s decision.", "Undone: %(count)s decisions.", count) % {"count": count}


def answer(request: HttpRequest, sentence: Words, *, status: int = 200, **data: Any) -> HttpResponse:
    """Answer the script of the page; a form without it is answered by messages on the page that it came from."""
    if "application/json" in request.headers.get("Accept", ""):
        headers = {"Cache-Control": "no-store"}
        return JsonResponse({"sentence": str(sentence), **data}, status=status, headers=headers)
    say: Callable[..., None] = messages.success if status == 200 else messages.error
    if sentence:
        say(request, sentence)
    for one in data.get("refused", ()):
        messages.warning(request, one["reason"])
    return HttpResponseRedirect(back_url(request))


def back_url(request: HttpRequest) -> str:
    """Return the page of the queue that a form came from."""
    url = request.POST.get("next", "")
    here = reverse("cockpit_decisions")
    is_own = url_has_allowed_host_and_scheme(url, allowed_hosts=None) and url.partition("?")[0] == here
    return url if is_own else here
