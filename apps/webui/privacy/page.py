"""The page *Privacy*: how long things are kept, who looked at them, and downloading everything."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve, reverse
from django.utils.functional import Promise
from django.utils.timezone import get_current_timezone_name
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.audit.selectors import ActorKind, AuditEntry, EntryFilter, PageStart, entries, entries_page, sentence
from apps.audit.services import note_object
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError, UnavailableError
from apps.core.domain.scope import Scope
from apps.core.pages.streams import OwnedIterator, ThreadStreamedResponse
from apps.episodic.selectors import event_counts, kept_days
from apps.people.selectors import (
    KEPT,
    download_file_exists,
    download_of,
    download_pieces,
    download_ready,
    erasure_list,
    progress_read,
)
from apps.people.services import download_remove, download_request
from apps.webui.navigation import PLACES
from apps.webui.pages import render_page
from apps.webui.person import Person

SHOWN_LOOKS, SHOWN_RECEIPTS = 5, 10
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


def privacy_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show what can be downloaded and forgotten, how long things are kept, and who looked lately."""
    looked, more = lines_of(person, SHOWN_LOOKS)
    receipts = erasure_list(person.user_id).filter(state="finished")[:SHOWN_RECEIPTS]
    return render_page(
        request,
        person,
        "webui/privacy/page.html",
        _("Privacy"),
        **shown_download(person),
        kept=kept_of(person),
        looked=looked,
        more_looked=bool(more),
        receipts=receipts,
    )


Kept = tuple[str, str]


def kept_of(person: Person) -> list[Kept]:
    """Return what is kept of a person, and how long, in words."""
    config = settings.MEMORYHUB
    return [
        (_("Memories"), _("Until you forget them. No app finds a forgotten memory, and you can bring it back.")),
        (_("How a memory changed, and why"), _("As long as the memory.")),
        *kept_events(person),
        (_("Notes and their versions"), _("Until everything is forgotten.")),
        (_("The words of conversations"), in_days(config.conversation_days)),
        (_("Questions to language models"), in_days(config.guards.call_retention_days)),
        (_("Which app received what, by its ids"), in_days(config.given_days)),
        (_("Who viewed what, and who did what"), in_days(config.audit_days)),
        (_("Your file to download"), in_days(KEPT.days)),
        (_("A file that you bring"), _("Until it is brought in, at most one day.")),
        (_("Receipts of forgetting"), _("For good. They say how much was removed, not whose it was.")),
        (
            _("Backups"),
            _(
                "The people who run this hub may keep backups, and nothing is removed from those here. Ask them how "
                "long they keep them."
            ),
        ),
    ]


def kept_events(person: Person) -> list[Kept]:
    """Return how long what happened is kept: in each household of the person, and outside of any."""
    try:
        counted = event_counts(person.access, Scope(), "household_id")
    except MemoryHubError:
        counted = []
    households = sorted({"", *(one.name for one in counted)})
    days = kept_days(households)
    kept = []
    for household in households:
        what = _("What happened (%(household)s)") % {"household": household} if household else _("What happened")
        known = days[household]
        kept.append((what, _("Until you forget it.") if known is None else in_days(known)))
    return kept


def in_days(days: int) -> str:
    """Return a length of time in words."""
    return ngettext("One day.", "%(days)d days.", days) % {"days": days}


def lines_of(person: Person, size: int, older_than: int | None = None) -> tuple[list[dict[str, Any]], int | None]:
    """Return what others did with what is kept of a person, the newest first.

    With them comes from which entry on there are older ones; None without.

    older_than: the key of an entry. One that the person may not see begins the list again.
    """
    own = frozenset({person.access.actor, person.name} if person.look is None else {person.access.actor})
    asked = EntryFilter(user_id=person.user_id, not_by=own)
    first = entries(person.access, asked).filter(pk=older_than).first() if older_than is not None else None
    page = entries_page(person.access, asked, PageStart("older", first.at, first.pk) if first else None, size)
    more = page.entries[-1].pk if page.has_older else None
    return [line_of(entry) for entry in page.entries], more


def line_of(entry: AuditEntry) -> dict[str, Any]:
    """Return an entry in words. reason: what the one who looked said. link: to the page that was shown."""
    detail: dict[str, Any] = entry.detail if isinstance(entry.detail, dict) else {}
    is_page = entry.action == "person_look.open"
    return {
        "at": entry.at,
        "who": who_of(entry),
        "what": page_words(entry.object_id) if is_page else WORDS.get(entry.action) or sentence(entry.action),
        "reason": str(detail.get("reason", "")),
        "link": entry.object_id if is_page else "",
        "was_refused": entry.outcome != "done",
    }


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


def shown_download(person: Person) -> dict[str, Any]:
    """Return what the page shows of the download."""
    found = download_of(person.user_id)
    if found is not None and found.until is not None and found.until <= utcnow(SYSTEM_CLOCK):
        found = None
    percent = 0
    if found is not None and found.total:  # less than 100 until the file is there
        percent = min(99, 100 * progress_read(found.uuid) // found.total)
    return {"download": found, "percent": percent, "kept_days": KEPT.days}


def back() -> HttpResponse:
    """Lead to the page."""
    return HttpResponseRedirect(reverse("webui:privacy") + "#download")


@require_POST
def download_ask(request: HttpRequest, person: Person) -> HttpResponse:
    """Have the file made, in the language and the time zone of this page."""
    try:
        asked = download_request(
            user_id=person.user_id, language=get_language() or "en", time_zone=get_current_timezone_name()
        )
    except MemoryHubError as error:
        messages.warning(request, error.detail)
    else:
        note_object("download", asked.uuid, scope=person.scope)
        messages.success(request, _("Your file is being made. You can leave this page."))
    return back()


@require_POST
def download_throw_away(request: HttpRequest, person: Person) -> HttpResponse:
    """Remove the file before its time."""
    download_remove(user_id=person.user_id)
    note_object("download", "", scope=person.scope)
    messages.success(request, _("The file is removed."))
    return back()


def download_file(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponseBase:
    """Send the file. Raises Http404 for one that is not this person's, is not ready or is not kept any more."""
    found = download_ready(person.user_id, uuid)
    try:
        if found is None:
            raise Http404
        if not download_file_exists(found):
            messages.error(request, _("The file is on another machine of this hub, or gone. Have it made again."))
            return back()
    except UnavailableError:
        messages.error(request, _("The hub cannot reach its files. Try again in a while."))
        return back()
    note_object("download", found.uuid, scope=person.scope)
    chunks = OwnedIterator(download_pieces(found), on_end=lambda: None)
    headers = {
        "Content-Disposition": 'attachment; filename="memoryhub.zip"',
        "Content-Length": str(found.size),
        "X-Content-Type-Options": "nosniff",
    }
    return ThreadStreamedResponse(chunks, content_type="application/zip", headers=headers)
