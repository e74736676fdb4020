"""What the card of the first steps does: a key, a memory, a search, the sample household, and the end of it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.cockpit.first_steps.progress import ROW, may_make_again, own_id, sample_job, steps_key
from apps.cockpit.models import FirstSteps
from apps.cockpit.now.page import now_page
from apps.cockpit.pages import render_fragment
from apps.core.admin.kit import operator_access
from apps.core.admin.lists import comparable
from apps.core.admin.snippets import QUESTION, key_snippets
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Permission, Scope
from apps.core.pages.addresses import hub_address
from apps.core.services import key_create, key_rotate
from apps.retrieval.domain.query import SearchQuery
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.services import memory_save, memory_search

KEY_LIFE = timedelta(days=90)
FOUND = 3
MAX_QUESTION_CHARS, MAX_CONTENT_CHARS = 2_000, 20_000
SNIPPETS = ("curl", "python")


def back(request: HttpRequest, problem: str = "") -> HttpResponse:
    """Redirect to the first page, and say what was in the way."""
    if problem:
        messages.warning(request, problem)
    return HttpResponseRedirect(reverse("admin:index"))


@require_POST
def make_key(request: HttpRequest) -> HttpResponse:
    """Make a key for the memories of one user, and show it in the answer itself: it is in no address and no session.

    again: give the key that no application has used yet another secret, for who has lost the first.
    """
    user_id = comparable(request.POST.get("user_id"))[:MAX_IDENTIFIER_CHARS] or own_id(request)
    unused = steps_key()
    try:
        if unused is not None and request.POST.get("again") and may_make_again(request, unused):
            key, secret = key_rotate(uuid=unused.uuid, overlap=timedelta())
        else:
            key, secret = key_create(
                name=_("First application"),
                scope=Scope(user_id),
                permission=Permission.WRITE,
                expires_at=utcnow(SYSTEM_CLOCK) + KEY_LIFE,
                actor=operator_access(request).actor,
            )
    except MemoryHubError as error:
        return back(request, error.detail)
    offered = key_snippets(key, secret, hub_address(request))
    snippets = [snippet for snippet in offered if snippet.name in SNIPPETS]
    return now_page(request, key=key, secret=secret, snippets=snippets)


@require_POST
def first_memory(request: HttpRequest) -> HttpResponse:
    """Save a memory of the key's person by hand, for those who have no application at hand."""
    content = comparable(request.POST.get("content"))[:MAX_CONTENT_CHARS]
    if not request.user.has_perm("semantic.change_memory"):
        raise PermissionDenied
    key = steps_key()
    user_id = key.user_id if key else own_id(request)
    try:
        draft = MemoryDraft(content, scope=Scope(user_id))
        memory_save(access=operator_access(request), draft=draft)
    except MemoryHubError as error:
        return back(request, error.detail)
    messages.success(request, _("Saved. Now search for it."))
    return back(request)


@require_POST
def first_search(request: HttpRequest) -> HttpResponse:
    """Search as an assistant would, and show what was found: in the card for the script, in its page without it."""
    question = comparable(request.POST.get("question"))[:MAX_QUESTION_CHARS]
    context: dict[str, Any] = {"asked": question, "is_answered": True}
    # What the application with the key may read, in the name of the viewer; before there is one, everything.
    key, access = steps_key(), operator_access(request)
    if key:
        access = replace(key.access, permission=Permission.READ, actor=access.actor, makes_ties=False)
    try:
        result = memory_search(access, SearchQuery(scope=Scope(), query=question or QUESTION, top_k=FOUND))
    except MemoryHubError as error:
        context["problem"] = error.detail
    else:
        context["found"] = [one.memory for one in result.found]
        if context["found"]:
            FirstSteps.objects.filter(pk=ROW, searched_at=None).update(searched_at=utcnow(SYSTEM_CLOCK))
    if request.headers.get("HX-Request"):
        return render_fragment(request, "cockpit/first_steps/found.html", **context)
    return now_page(request, **context)


@require_POST
def sample(request: HttpRequest) -> HttpResponse:
    """Bring in the sample household, or remove it, in the background."""
    is_removal = request.POST.get("act") == "remove"
    name = "sample: remove" if is_removal else "sample: bring in"
    run = sample_job(is_removal=is_removal).start(task_name=name)
    FirstSteps.objects.filter(pk=ROW).update(sample_run=run, is_removal=is_removal)
    return back(request)


@require_POST
def dismiss(request: HttpRequest) -> HttpResponse:
    """Show the steps no more."""
    FirstSteps.objects.filter(pk=ROW).update(dismissed_at=utcnow(SYSTEM_CLOCK))
    return back(request)
