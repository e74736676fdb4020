"""The versions of a note: what it was, by whom and when; two of them compared; one of them brought back."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.notes.domain.places import is_note_name, parse_place
from apps.notes.selectors import NoteVersion, note_versions, version_get, version_text
from apps.notes.services import note_restore
from apps.webui.notes.differences import difference
from apps.webui.notes.page import latest_of
from apps.webui.notes.places import Note, note_or_404, problem_words
from apps.webui.pages import render_page
from apps.webui.person import Person

SHOWN = 50


def versions_page(request: HttpRequest, person: Person, path: str) -> HttpResponse:
    """List the versions of a note, the newest first. `from`, `to`: the two to compare; `before`: where the page begins.

    All three are numbers of versions.
    """
    note = note_or_404(path)
    rows, problem = rows_of(request, person, note)
    chosen = {side: number_of(request, side) for side in ("from", "to")}
    if not rows and not problem:
        raise Http404
    newest = [row["version"].number for row in rows[:2]]
    context: dict[str, Any] = {
        "note": note,
        "rows": rows[:SHOWN],
        "next": rows[SHOWN - 1]["version"].number if len(rows) > SHOWN else None,
        "comparison": compared(person, note, chosen["from"], chosen["to"]),
        "asked": None not in chosen.values(),
        "problem": problem,
        "to": chosen["to"] or newest[:1][0] if newest else None,
        "from": chosen["from"] or (newest or [None])[-1],
    }
    title = _("Versions of %(note)s") % {"note": note.title}
    return render_page(request, person, "webui/notes/versions.html", title, **context)


def rows_of(request: HttpRequest, person: Person, note: Note) -> tuple[list[dict[str, Any]], str]:
    """Return a page of versions and one more, and why there may be none."""
    try:
        found = note_versions(person.access, person.user_id, note.place).order_by("-number")
    except MemoryHubError as error:
        return [], "" if isinstance(error, NotFoundError) else problem_words(error)
    before = number_of(request, "before")
    listed = found if before is None else found.filter(number__lt=before)
    return [{"version": version, **latest_of(version, person)} for version in listed[: SHOWN + 1]], ""


def number_of(request: HttpRequest, name: str) -> int | None:
    """Return the number that a parameter of the address has; None for any other text."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def compared(person: Person, note: Note, first: int | None, second: int | None) -> dict[str, Any] | None:
    """Return what differs between two versions, the older one first; None where one of them is not there."""
    if first is None or second is None:
        return None
    found = note_versions(person.access, person.user_id, note.place).filter(number__in=(first, second))
    older, newer = found.filter(number=min(first, second)).first(), found.filter(number=max(first, second)).first()
    if older is None or newer is None:
        return None
    return {"older": older, "newer": newer, "difference": difference(shown(older), shown(newer))}


def shown(version: NoteVersion) -> str:
    """Return the text of a version; what is not UTF-8 is marked."""
    return version_text(version).decode(errors="replace")


def version_or_404(person: Person, uuid: UUID) -> NoteVersion:
    """Return a version of a note of the person's. Raises Http404, also for versions of the settings."""
    try:
        version = version_get(person.access, uuid)
    except NotFoundError:
        raise Http404 from None
    if version.user_id != person.user_id or not is_note_name(version.place):
        raise Http404
    return version


def version_page(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Show a version: its text, and what it changed."""
    version = version_or_404(person, uuid)
    note = Note(parse_place(version.place))
    former = note_versions(person.access, person.user_id, note.place).current().filter(number__lt=version.number)
    before = former.order_by("number").last()
    text = shown(version)
    context = {
        "note": note,
        "version": version,
        "state": latest_of(version, person),
        "text": text,
        "difference": difference(shown(before) if before else "", text),
        "can_restore": version.kind != "delete",
    }
    title = _("Version %(number)s of %(note)s") % {"number": version.number, "note": note.title}
    return render_page(request, person, "webui/notes/version.html", title, **context)


@require_POST
def version_restore(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Make a version the present text of its note; what is there now stays as a version, which undoes this."""
    version = version_or_404(person, uuid)
    note = Note(parse_place(version.place))
    before = note_versions(person.access, person.user_id, note.place).current().order_by("number").last()
    try:
        restored = note_restore(access=person.access, uuid=uuid)
    except MemoryHubError as error:
        messages.warning(request, problem_words(error))
        return HttpResponseRedirect(reverse("webui:note_version", args=[uuid]))
    if before is None or before.sha256 == restored.sha256:
        messages.success(request, _("It was already like this."))
        return HttpResponseRedirect(note.url)
    return HttpResponseRedirect(f"{note.url}?undo={before.uuid}")
