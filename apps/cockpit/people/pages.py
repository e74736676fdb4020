"""The pages of people: the list, one person, looking at the pages of a person, and forgetting them."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from apps.cockpit.pages import render_fragment, render_page
from apps.cockpit.people.details import charts_of, person_details
from apps.core.admin.kit import operator_access
from apps.core.admin.lists import comparable
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.cursors import Cursor
from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Access, Permission, Scope
from apps.core.domain.unseen import is_named
from apps.core.pages.sayings import say
from apps.people.selectors import (
    MAX_REASON_CHARS,
    MOST,
    NameKind,
    erasure_get,
    erasure_obstacles,
    may_look,
    name_page,
    user_figures,
)
from apps.people.services import erasure_preview, erasure_request, look_begin, look_end

PER_PAGE = 25
SHOWN_KEYS = 12
# Everything that an export holds of a person.
EXPORTS = ("semantic.view_memory", "episodic.view_timelineevent", "notes.view_noteversion")
# Memories by their status.
STATUSES = {
    "active": _("Active memories"),
    "superseded": _("Superseded memories"),
    "merged": _("Merged memories"),
    "rejected": _("Rejected memories"),
    "deleted": _("Deleted memories"),
}
# Title, icon, address, the parameter that holds the id, and the permission that the page needs.
TABS = (
    (_("Memories"), "neurology", "admin:semantic_memory_changelist", "user_id", "semantic.view_memory"),
    (_("Timeline"), "timeline", "admin:episodic_timelineevent_changelist", "user_id", "episodic.view_timelineevent"),
    (_("Decisions"), "balance", "admin:semantic_conflict_changelist", "user_id", "semantic.view_conflict"),
    (_("Notes"), "description", "admin:notes_noteversion_changelist", "user_id", "notes.view_noteversion"),
    (_("Keys"), "key", "admin:core_apikey_changelist", "q", "core.view_apikey"),
    (_("Retention"), "event_busy", "admin:episodic_retentionpolicy_changelist", "q", "episodic.view_retentionpolicy"),
)
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
    "imports": _("imports"),
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
    "store_items": _("store_items"),
    "tasks": _("tasks"),
}


def may_see_keys(request: HttpRequest, access: Access) -> bool:
    """Return whether a viewer may know which keys there are."""
    return not access.bound.named() and request.user.has_perm("core.view_apikey")


def may_forget(request: HttpRequest, access: Access) -> bool:
    """Return whether a viewer may have people forgotten: operators without a bound."""
    return access.allows(Permission.OPERATOR) and request.user.has_perm("people.add_erasure")


def people_page(request: HttpRequest) -> HttpResponse:
    """List people, some on a page."""
    access, text = operator_access(request), comparable(request.GET.get("q"))[:MAX_IDENTIFIER_CHARS]
    context: dict[str, Any] = {"text": text, "live": "memories timeline people"}
    try:
        cursor = Cursor.read(request.GET["cursor"]) if request.GET.get("cursor") else None
        page = name_page(
            access, Scope(), NameKind.USERS, cursor=cursor, limit=PER_PAGE, count=not text, containing=text
        )
    except NotFoundError:
        raise Http404 from None
    except MemoryHubError as error:
        return render_page(request, "cockpit/people.html", gettext("People"), problem=say(str(error.detail)), **context)
    shows_keys = may_see_keys(request, access)
    details = person_details(access, [row.name for row in page.rows], with_keys=shows_keys)
    people = [{"figures": row, "details": details[row.name], "link": person_link(row.name)} for row in page.rows]
    context |= {"people": people, "total": page.total, "shows_keys": shows_keys}
    context |= {
        name: ("?" + urlencode({**({"q": text} if text else {}), "cursor": cursor}) if cursor else "")
        for name, cursor in (("next", page.older), ("previous", page.newer))
    }
    return render_page(request, "cockpit/people.html", gettext("People"), **context)


def person_link(user_id: str) -> str:
    """Return the page of a person; an id may hold any characters, so it is no part of the path."""
    return f"{reverse('cockpit_person')}?{urlencode({'user_id': user_id})}"


def asked_person(request: HttpRequest, data: Any) -> str:
    """Return the id that a request names. Raises Http404 without one, and outside the viewer's bound."""
    user_id = comparable(data.get("user_id"))
    if not user_id or len(user_id) > MAX_IDENTIFIER_CHARS:
        raise Http404
    if operator_access(request).for_read(Scope(user_id)) is None:
        raise Http404
    return user_id


def person_page(request: HttpRequest) -> HttpResponse:
    """Show one person in figures and charts, with the ways to all that there is of them."""
    user_id, access = asked_person(request, request.GET), operator_access(request)
    context: dict[str, Any] = {
        "user_id": user_id,
        "tabs": [
            {"title": title, "icon": icon, "link": f"{reverse(name)}?{urlencode({parameter: user_id})}"}
            for title, icon, name, parameter, permission in TABS
            if request.user.has_perm(permission)
        ],
        "may_export": request.user.has_perms(EXPORTS),
        "may_forget": may_forget(request, access),
        "may_look": may_look(request, user_id),
    }
    title = gettext("Person %(id)s") % {"id": user_id}
    try:
        figures = user_figures(access, user_id)
    except NotFoundError:
        raise Http404 from None
    except MemoryHubError as error:
        return render_page(request, "cockpit/person.html", title, problem=say(str(error.detail)), **context)
    shows_keys = may_see_keys(request, access)
    details = person_details(access, [user_id], with_keys=shows_keys)[user_id]
    statuses = [(STATUSES[name], count) for name, count in figures.memories.by_status.items() if count]
    context |= {
        "figures": figures,
        "details": details,
        "keys": (details.keys or ())[:SHOWN_KEYS],
        "more_keys": max(0, len(details.keys or ()) - SHOWN_KEYS),
        "shows_keys": shows_keys,
        "statuses": statuses,
        "charts": charts_of(access, user_id),
    }
    return render_page(request, "cockpit/person.html", title, **context)


def person_look(request: HttpRequest) -> HttpResponse:
    """Ask for a reason; with one, lead to the pages of the person, which show themselves for half an hour."""
    user_id, problem = asked_person(request, request.POST or request.GET), ""
    if not may_look(request, user_id):
        raise PermissionDenied
    if request.method == "POST":
        try:
            look_begin(request=request, user_id=user_id, reason=request.POST.get("reason", ""))
            return HttpResponseRedirect(reverse("webui:home"))
        except MemoryHubError as error:
            problem = error.detail
    return render_page(
        request,
        "cockpit/person_look.html",
        gettext("View %(person)s's pages") % {"person": user_id},
        user_id=user_id,
        problem=problem,
        minutes=int(MOST.total_seconds() // 60),
        max_chars=MAX_REASON_CHARS,
        back=person_link(user_id),
    )


@require_POST
def person_look_stop(request: HttpRequest) -> HttpResponse:
    """End the look, and lead back to the person in the admin."""
    user_id = look_end(request=request)
    messages.success(request, gettext("You're no longer viewing another person's pages."))
    return HttpResponseRedirect(person_link(user_id) if user_id else reverse("cockpit_people"))


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
