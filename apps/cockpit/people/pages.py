"""The pages of people: the list, and one person."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.cockpit.pages import render_page
from apps.cockpit.people.charts import charts_of
from apps.cockpit.people.details import person_details
from apps.core.admin.kit import operator_access
from apps.core.admin.lists import comparable
from apps.core.domain.cursors import Cursor
from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Access, Permission, Scope
from apps.core.pages.sayings import say
from apps.people.selectors import NameKind, may_look, name_page, user_figures

PER_PAGE = 25
SHOWN_KEYS = 12
# Everything that an export holds of a person.
EXPORTS = ("semantic.view_memory", "episodic.view_timelineevent", "notes.view_noteversion")


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
    context |= {name: page_link(text, cursor) for name, cursor in (("next", page.older), ("previous", page.newer))}
    return render_page(request, "cockpit/people.html", gettext("People"), **context)


def page_link(text: str, cursor: str | None) -> str:
    """Return the query string of a page of the list; empty for none."""
    return "?" + urlencode({**({"q": text} if text else {}), "cursor": cursor}) if cursor else ""


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
        "tabs": tabs_of(request, user_id),
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


def tabs_of(request: HttpRequest, user_id: str) -> list[dict[str, Any]]:
    """Return the lists that show what there is of a person, as far as the viewer may see them."""
    return [
        {"title": title, "icon": icon, "link": f"{reverse(name)}?{urlencode({parameter: user_id})}"}
        for title, icon, name, parameter, permission in TABS
        if request.user.has_perm(permission)
    ]
