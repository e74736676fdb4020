"""The pages *Notes* and of one note, the box that adds to the log of today, and the search."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.core.domain.errors import MemoryHubError
from apps.notes.domain.places import DAILY_FOLDER, MAIN
from apps.notes.selectors import Note as StoredNote
from apps.notes.selectors import NoteVersion, daily_list, note_get, note_list, note_versions, notes_search, version_get
from apps.notes.services import daily_append
from apps.webui.notes.markdown import render
from apps.webui.notes.places import Note, kind_words, note_of_today, note_or_404, who_wrote, zone_of_page
from apps.webui.notes.problems import problem_words
from apps.webui.pages import render_page
from apps.webui.person import Person

# As many as the API takes.
MAX_ENTRY_CHARS = 20_000
MAX_QUESTION_CHARS = 2_000
# Of the logs of days, before the others are asked for.
SHOWN_DAYS = 31
SHOWN_HITS = 20


class EntryForm(forms.Form):
    """Something to add to the log of today."""

    entry = forms.CharField(
        label=gettext_lazy("Add to today’s log"),
        max_length=MAX_ENTRY_CHARS,
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class SearchForm(forms.Form):
    """What to look for in the notes."""

    words = forms.CharField(label=gettext_lazy("Search your notes"), max_length=MAX_QUESTION_CHARS)


def notes_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show which notes there are. `days=all`: every log, instead of the latest ones."""
    return render_page(request, person, "webui/notes/page.html", _("Notes"), **listed(request, person))


def listed(request: HttpRequest, person: Person) -> dict[str, Any]:
    """Return what the page *Notes* shows."""
    days = [Note(place) for place in daily_list(person.access, person.user_id)]
    others = [
        Note(place)
        for place in note_list(person.access, person.user_id)
        if place != MAIN and not (place.segments[0] == DAILY_FOLDER and place.day is not None)
    ]
    shown = days if request.GET.get("days") == "all" else days[:SHOWN_DAYS]
    return {
        "main": Note(MAIN),
        "main_state": state_of(person, Note(MAIN)),
        "today": note_of_today(),
        "days": shown,
        "day_count": len(days),
        "others": others,
        "entry_form": EntryForm(),
        "search_form": SearchForm(),
    }


def state_of(person: Person, note: Note) -> dict[str, Any]:
    """Return a note as it is now, with who changed it last; `problem` where it cannot be read."""
    try:
        found = note_get(person.access, person.user_id, note.place)
    except MemoryHubError as error:
        return {"problem": problem_words(error), "text": "", "has_text": False, "size": 0}
    text, is_exact = decoded(found)
    state = {"text": text, "has_text": bool(text.strip()), "is_exact": is_exact, "sha256": found.sha256}
    return {**state, "size": len(found.text or b""), **latest_of(found.version, person)}


def decoded(note: StoredNote) -> tuple[str, bool]:
    """Return the text of a note, and whether a field of a browser can hold exactly this."""
    content = note.text or b""
    text = content.decode(errors="replace")
    return text, "\0" not in text and text.encode() == content


def latest_of(version: NoteVersion | None, person: Person) -> dict[str, Any]:
    """Return who made a version, and when."""
    if version is None:
        return {}
    return {"by": who_wrote(version, person), "at": version.at, "kind": kind_words(version)}


def note_page(request: HttpRequest, person: Person, path: str) -> HttpResponse:
    """Show a note. `as=text`: as it is written. `undo`: the version that undoes what was done last."""
    note = note_or_404(path)
    state = state_of(person, note)
    if not state["has_text"] and not state.get("problem") and not has_place(person, note):
        raise Http404
    as_text = request.GET.get("as") == "text"
    context: dict[str, Any] = {
        "note": note,
        "state": state,
        "as_text": as_text,
        "rendered": render(state["text"]) if state["has_text"] and not as_text else "",
        "undo": undo_of(request, person, note),
        "entry_form": EntryForm() if note == note_of_today() else None,
    }
    return render_page(request, person, "webui/notes/note.html", note.title, **context)


def has_place(person: Person, note: Note) -> bool:
    """Return whether a note without text has a page: MEMORY.md, a log, or one that had some text before."""
    if note.place == MAIN or note.place.day is not None:
        return True
    return note_versions(person.access, person.user_id, note.place).exists()


def undo_of(request: HttpRequest, person: Person, note: Note) -> NoteVersion | None:
    """Return the version of the note that the address names, to be brought back."""
    try:
        version = version_get(person.access, UUID(request.GET.get("undo", "")))
    except (ValueError, MemoryHubError):
        return None
    return version if version.place == note.path else None


@require_POST
def today_append(request: HttpRequest, person: Person) -> HttpResponse:
    """Add to the log of today, in the time zone of the person."""
    form = EntryForm(request.POST)
    if form.is_valid():
        entry = form.cleaned_data["entry"]
        try:
            daily_append(access=person.access, user_id=person.user_id, entry=entry, zone=zone_of_page())
        except MemoryHubError as error:
            form.add_error("entry", problem_words(error))
        else:
            messages.success(request, _("Added to today’s log."))
            return HttpResponseRedirect(note_of_today().url)
    context = {**listed(request, person), "entry_form": form}
    return render_page(request, person, "webui/notes/page.html", _("Notes"), **context)


def search_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show the box, and what notes say about the posted words: they are content, so they are in no address."""
    form = SearchForm(request.POST if request.method == "POST" else None)
    context = {"search_form": form, **search(person, form)}
    return render_page(request, person, "webui/notes/search.html", _("Search your notes"), **context)


def search(person: Person, form: SearchForm) -> dict[str, Any]:
    """Return the hits of a form that was sent, and why they may be fewer; nothing for one that was not."""
    if not form.is_bound or not form.is_valid():
        return {"is_answered": False}
    try:
        found = notes_search(person.access, person.user_id, form.cleaned_data["words"], limit=SHOWN_HITS)
    except MemoryHubError as error:
        return {"is_answered": False, "problem": problem_words(error)}
    hits = [{"note": note_or_404(hit.path), "hit": hit} for hit in found.hits]
    return {"is_answered": True, "hits": hits}
