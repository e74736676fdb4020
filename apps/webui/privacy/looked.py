"""Who looked at what is kept of a person, and who did something with it: the audit in plain words."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.audit.selectors import ActorKind, AuditEntry, EntryFilter, Place, entries, entries_page, sentence
from apps.webui.navigation import PLACES
from apps.webui.pages import render_page
from apps.webui.person import Person

PER_PAGE = 25
WORDS: dict[str, str | Promise] = {
    "person_look.begin": gettext_lazy("started viewing your pages"),
    "person_look.end": gettext_lazy("stopped viewing your pages"),
    "person.open": gettext_lazy("opened the page about you in the admin"),
    "person.export": gettext_lazy("downloaded everything about you"),
    "export.open": gettext_lazy("downloaded what is kept about you"),
    "erasures.create": gettext_lazy("checked what forgetting you would remove, or started it"),
    "person.forget": gettext_lazy("started forgetting you"),
}


@dataclass(frozen=True)
class LookedLine:
    """An entry in words. reason: what the one who looked said. link: to the page that was shown."""

    at: datetime
    who: str
    what: str | Promise
    reason: str
    link: str
    was_refused: bool


def lines_of(person: Person, size: int, older_than: int | None = None) -> tuple[list[LookedLine], int | None]:
    """Return what others did with what is kept of a person, the newest first.

    With them comes from which entry on there are older ones; None without.

    older_than: the key of an entry. One that the person may not see begins the list again.
    """
    own = frozenset({person.access.actor, person.name} if person.look is None else {person.access.actor})
    asked = EntryFilter(user_id=person.user_id, not_by=own)
    first = entries(person.access, asked).filter(pk=older_than).first() if older_than is not None else None
    page = entries_page(person.access, asked, Place("older", first.at, first.pk) if first else None, size)
    more = page.entries[-1].pk if page.has_older else None
    return [line_of(entry) for entry in page.entries], more


def line_of(entry: AuditEntry) -> LookedLine:
    """Return an entry in words."""
    detail: dict[str, Any] = entry.detail if isinstance(entry.detail, dict) else {}
    is_page = entry.action == "person_look.open"
    return LookedLine(
        entry.at,
        who_of(entry),
        page_words(entry.object_id) if is_page else WORDS.get(entry.action) or sentence(entry.action),
        str(detail.get("reason", "")),
        entry.object_id if is_page else "",
        entry.outcome != "done",
    )


def who_of(entry: AuditEntry) -> str:
    """Return who acted, in words."""
    if entry.actor_kind == ActorKind.KEY:
        return _("The app %(name)s") % {"name": entry.actor}
    if entry.actor_kind == ActorKind.COMMAND:
        return _("%(name)s, on the hub’s machine,") % {"name": entry.actor}
    return _("The hub") if entry.actor_kind == ActorKind.HUB else entry.actor


def page_words(address: str) -> str:
    """Return which page was opened, in words."""
    try:
        name = resolve(address).url_name
    except Resolver404:
        return _("opened a page")
    if name == "memory":
        return _("opened one of your memories")
    title = next((place.title for place in PLACES if f"{name}_".startswith(f"{place.name}_")), None)
    return _("opened your page “%(page)s”") % {"page": title} if title is not None else _("opened a page")


def looked_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show who looked, page by page. `older`: the key of the last entry of the page before."""
    older = request.GET.get("older", "")
    lines, more = lines_of(person, PER_PAGE, int(older) if older.isdecimal() and len(older) < 19 else None)
    return render_page(request, person, "webui/privacy/looked.html", _("Who viewed it"), looked=lines, more=more)
