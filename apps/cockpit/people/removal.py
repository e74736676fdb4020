"""Forgetting a person: the question with its figures, and the progress."""

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.cockpit.pages import render_fragment, render_page
from apps.cockpit.people.pages import asked_person, may_forget, person_link
from apps.core.admin.kit import operator_access
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.core.domain.unseen import is_named
from apps.core.pages.sayings import say
from apps.people.selectors import erasure_get, erasure_obstacles
from apps.people.services import erasure_preview, erasure_request

# Stores of personal data, in English by their names.
STORES = {
    "accounts": _("accounts"),
    "admin": _("admin"),
    "audit": _("audit"),
    "bridge": _("bridge"),
    "consolidations": _("consolidations"),
    "conversations": _("conversations"),
    "erasures": _("erasures"),
    "events": _("events"),
    "keys": _("keys"),
    "knowledge_sources": _("knowledge_sources"),
    "memberships": _("memberships"),
    "memories": _("memories"),
    "model_calls": _("model_calls"),
    "note_compactions": _("note_compactions"),
    "notes": _("notes"),
    "outbox": _("outbox"),
    "pauses": _("pauses"),
    "receipts": _("receipts"),
    "retention_policies": _("retention_policies"),
    "routing_policies": _("routing_policies"),
    "rules": _("rules"),
    "tasks": _("tasks"),
}


def store_words(name: str) -> str:
    """Return what a store keeps, in words."""
    return str(STORES.get(name, name))


def person_forget(request: HttpRequest) -> HttpResponse:
    """Show how much each store holds of a person; once their id was typed, begin to forget them."""
    access = operator_access(request)
    if not may_forget(request, access):
        raise PermissionDenied
    user_id, problem = asked_person(request, request.POST or request.GET), ""
    if request.method == "POST":
        if not is_named(request.POST.get("typed", ""), user_id):
            problem = gettext("The id does not match. Nothing was removed.")
        else:
            try:
                erasure = erasure_request(user_id=user_id, actor=access.actor)
                return HttpResponseRedirect(reverse("cockpit_erasure", args=[erasure.uuid]))
            except MemoryHubError as error:
                problem = say(str(error.detail))
    found = erasure_preview(user_id)
    return render_page(
        request,
        "cockpit/forget.html",
        gettext("Forget %(id)s") % {"id": user_id},
        user_id=user_id,
        found={store_words(name): count for name, count in found.items()},
        total=sum(found.values()),
        obstacles=erasure_obstacles(user_id),
        problem=problem,
        back=person_link(user_id),
    )


def erasure_page(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Show how far an erasure is, and what it removed; a fragment of it for the browser that waits."""
    access = operator_access(request)
    if not may_forget(request, access):
        raise PermissionDenied
    try:
        erasure = erasure_get(uuid)
    except NotFoundError:
        raise Http404 from None
    left = dict(erasure_preview(erasure.user_id)) if erasure.is_open else {}
    stores = [
        {
            "title": store_words(name),
            "found": count,
            "left": left.get(name, 0),
            "gone": count - min(count, left.get(name, 0)),
        }
        for name, count in sorted((erasure.found or left).items())
    ]
    context = {"erasure": erasure, "stores": stores, "now": utcnow(SYSTEM_CLOCK)}
    if request.headers.get("HX-Request"):
        return render_fragment(request, "cockpit/erasure_progress.html", **context)
    return render_page(request, "cockpit/erasure.html", gettext("Forgetting a person"), **context)
