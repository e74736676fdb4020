"""Decide, also about all that is alike, and undo; and who looks at which decision.

Every change of the queue is a POST that calls a service with the access of the viewer.
"""

from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

from django.contrib import messages
from django.db import models
from django.db.models.functions import Now
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from apps.cockpit.decisions.shown import (
    MAX_NAME_CHARS,
    RUN,
    SESSION_KEY,
    SHOWN,
    as_key,
    may_read,
    read_filter,
    read_reviews,
    read_run,
    reviews_token,
    run_token,
    save_view,
    saved_views,
)
from apps.cockpit.models import Presence
from apps.cockpit.pages import render_fragment
from apps.core.admin.kit import moment, operator_access
from apps.core.admin.lists import comparable
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Access
from apps.core.pages.sayings import say
from apps.core.words import Counted, Words
from apps.semantic import services
from apps.semantic.domain.review_queue import ReviewStep
from apps.semantic.selectors import Conflict, ReviewState, conflict_get
from apps.semantic.services import visible_keys

# What a person can choose at once, and a request has time for.
MAX_CHOSEN = 100
# What is said of one decision, and of several.
DONE = {
    ReviewStep.ACCEPT: (
        _("Accepted."),
        Counted("Accepted: %(count)s decision.", "Accepted: %(count)s decisions.", "count"),
    ),
    ReviewStep.CANDIDATE: (
        _("Kept the candidate."),
        Counted("Kept the candidate: %(count)s decision.", "Kept the candidate: %(count)s decisions.", "count"),
    ),
    ReviewStep.EXISTING: (
        _("Kept the existing memory."),
        Counted(
            "Kept the existing memory: %(count)s decision.",
            "Kept the existing memory: %(count)s decisions.",
            "count",
        ),
    ),
    ReviewStep.BOTH: (
        _("Kept both."),
        Counted("Kept both: %(count)s decision.", "Kept both: %(count)s decisions.", "count"),
    ),
    ReviewStep.REVERT: (
        _("Reverted."),
        Counted("Reverted: %(count)s decision.", "Reverted: %(count)s decisions.", "count"),
    ),
}
STALE = _("Reload the page: it did not offer that choice.")
SAMPLES = 5
# Without a sign for so long, an account looks at nothing any more.
EXPIRY = timedelta(seconds=20)
MAX_SHOWN = 50


class Target(NamedTuple):
    """A decision to decide about, and the state of its review that the page showed."""

    key: int
    seen: ReviewState


@require_POST
def decisions_act(request: HttpRequest) -> HttpResponse:
    """Take a step about one or several decisions. Each is a transaction of its own, the newest first."""
    step, targets = request.POST.get("step", ""), []
    for value in request.POST.getlist("receipt"):  # `key:state`; what cannot be read is left out
        text, _, state = value.partition(":")
        key = as_key(text)
        if key is not None and state in ReviewState.values:
            targets.append(Target(key, ReviewState(state)))
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
    name = comparable(request.POST.get("name"))[:MAX_NAME_CHARS]
    if removed := comparable(request.POST.get("remove")):
        request.session[SESSION_KEY] = {one: query for one, query in saved_views(request).items() if one != removed}
    elif name and not save_view(request, name, read_filter(request.POST)):
        messages.warning(request, gettext("You cannot save any more views: remove one first."))
    return HttpResponseRedirect(back_url(request))


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


def decisions_alike(request: HttpRequest, key: int) -> HttpResponse:
    """Ask whether to accept all that are like a decision: how many, and five of them. Raises Http404."""
    access = operator_access(request)
    receipt = services.receipt_at(access, key)
    if receipt is None:
        raise Http404
    alike = services.alike_of(receipt)
    keys = list(services.decisions_alike(access, alike).exclude(pk=key).values_list("pk", flat=True)[: SAMPLES - 1])
    count = services.count_alike(access, alike)
    return render_fragment(
        request,
        "cockpit/decisions/alike.html",
        receipt=receipt,
        alike=alike,
        count=count,
        count_more=count >= services.MAX_ALIKE,
        samples=services.queue_rows(access, [key, *keys]),
        may_read=may_read(request),
        token=run_token(request, alike, None),
    )


@require_POST
def decisions_accept_alike(request: HttpRequest) -> HttpResponse:
    """Accept one batch of what was shown, or go on with a run. The token of the run undoes all of it."""
    run = read_run(request, request.POST.get("token", ""), SHOWN, RUN)
    if run is None:
        return answer(request, STALE, status=400)
    at = run.at or utcnow(SYSTEM_CLOCK)
    report = services.batch_accept(access=operator_access(request), alike=run.alike, at=at)
    token = run_token(request, run.alike, at)
    said = ngettext("Accepted: %(count)s decision.", "Accepted: %(count)s decisions.", report.count)
    sentence = said % {"count": report.count}
    return answer(request, sentence, count=report.count, is_last=report.is_last, undo=token)


@require_POST
def decisions_presence(request: HttpRequest) -> HttpResponse:
    """Note what the viewer looks at, and answer who else looks at what: names by the key of the decision."""
    access, key, viewer = operator_access(request), as_key(request.POST.get("receipt")), request.user.pk
    assert viewer is not None  # the admin lets in only those who have signed in
    if key is not None and key in visible_keys(access, [key]):
        Presence.objects.bulk_create(
            [Presence(login_id=viewer, receipt=key, seen_at=Now())],
            update_conflicts=True,
            unique_fields=["login"],
            update_fields=["receipt", "seen_at"],
        )
    else:
        Presence.objects.filter(login=viewer).delete()
    recent = Presence.objects.filter(seen_at__gt=models.ExpressionWrapper(Now() - EXPIRY, models.DateTimeField()))
    others = list(recent.exclude(login=viewer).select_related("login").order_by("-seen_at")[:MAX_SHOWN])
    visible = visible_keys(access, [one.receipt for one in others])
    names: dict[str, list[str]] = defaultdict(list)
    for one in others:
        if one.receipt in visible:
            names[str(one.receipt)].append(one.login.get_username())
    return JsonResponse({"lookers": names}, headers={"Cache-Control": "no-store"})
