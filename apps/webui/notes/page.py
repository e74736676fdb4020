"""The pages *Notes* and of one note, the box that adds to the log of today, the search, and editing with a preview."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.core.domain.errors import MemoryHubError
from apps.notes.domain.merge import as_in_file, merge_texts, plain_ends
from apps.notes.domain.places import DAILY_FOLDER, MAIN
from apps.notes.selectors import (
    MAX_NOTE_BYTES,
    NoteVersion,
    daily_list,
    note_get,
    note_list,
    note_versions,
    notes_search,
    version_get,
    version_text,
)
from apps.notes.services import NoteChangedError, daily_append, note_edit
from apps.webui.notes.differences import difference
from apps.webui.notes.markdown import render
from apps.webui.notes.places import (
    KINDS,
    Note,
    code_words,
    note_of_today,
    note_or_404,
    problem_words,
    who_wrote,
    zone_of_page,
)
from apps.webui.pages import render_fragment, render_page
from apps.webui.person import Person

# As many as the API takes.
MAX_ENTRY_CHARS = 20_000
MAX_QUESTION_CHARS = 2_000
# Of the logs of days, before the others are asked for.
SHOWN_DAYS = 31
SHOWN_HITS = 20
# Where to go on after a note is saved, by what a form names.
BACK = {"note": "", "settings": "webui:memory_settings"}


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
    content = found.text or b""
    text = content.decode(errors="replace")
    # Whether a field of a browser can hold exactly this.
    is_exact = "\0" not in text and text.encode() == content
    state = {"text": text, "has_text": bool(text.strip()), "is_exact": is_exact, "sha256": found.sha256}
    return {**state, "size": len(content), **latest_of(found.version, person)}


def latest_of(version: NoteVersion | None, person: Person) -> dict[str, Any]:
    """Return who made a version, and when."""
    if version is None:
        return {}
    return {
        "by": who_wrote(version, person),
        "at": version.at,
        "kind": str(KINDS.get(version.kind, version.get_kind_display())),
    }


def note_page(request: HttpRequest, person: Person, path: str) -> HttpResponse:
    """Show a note. `as=text`: as it is written. `undo`: the version that undoes what was done last."""
    note = note_or_404(path)
    state = state_of(person, note)
    # MEMORY.md, a log, and what had some text before have a page without text too.
    has_place = note.place == MAIN or note.place.day is not None
    had_text = has_place or note_versions(person.access, person.user_id, note.place).exists()
    if not state["has_text"] and not state.get("problem") and not had_text:
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


class EditForm(forms.Form):
    """The text of a note. base: the digest of the text that was opened. back: where the editor was opened."""

    text = forms.CharField(label=gettext_lazy("Text"), required=False, strip=False, widget=forms.Textarea)
    base = forms.RegexField(r"^[0-9a-f]{64}$", widget=forms.HiddenInput)
    back = forms.ChoiceField(choices=[(name, name) for name in BACK], required=False, widget=forms.HiddenInput)


def edit_page(request: HttpRequest, person: Person, path: str) -> HttpResponse:
    """Show the editor of a note; save, or show how it would look, what is posted."""
    note = note_or_404(path)
    if request.method != "POST":
        state = state_of(person, note)
        form = EditForm(initial={"text": state["text"], "base": state.get("sha256", ""), "back": "note"})
        return editor(request, person, note, form, state, preview=render(state["text"]) if state["has_text"] else "")
    form = EditForm(request.POST)
    if not form.is_valid() or "preview" in request.POST:
        typed = plain_ends(form.cleaned_data.get("text", ""))
        return editor(request, person, note, form, state_of(person, note), preview=render(typed) if typed else "")
    return save(request, person, note, form)


def editor(
    request: HttpRequest, person: Person, note: Note, form: EditForm, state: dict[str, Any], **context: Any
) -> HttpResponse:
    """Show the editor; a file that no browser can hold as it is is not edited here."""
    problem = state.get("problem") or ("" if state.get("is_exact", True) else code_words("not_utf8"))
    shown = {"note": note, "form": form, "state": state, "problem": problem, "limit": MAX_NOTE_BYTES, **context}
    return render_page(request, person, "webui/notes/edit.html", _("Edit %(note)s") % {"note": note.title}, **shown)


def save(request: HttpRequest, person: Person, note: Note, form: EditForm) -> HttpResponse:
    """Save what was typed, where the note is still the one that was opened; else show both."""
    typed, base = form.cleaned_data["text"], form.cleaned_data["base"]
    # The text that was opened, as it was in the file; no version may have it.
    version = note_versions(person.access, person.user_id, note.place).filter(sha256=base).order_by("number").last()
    first = None if version is None else version_text(version).decode(errors="replace")
    former = state_of(person, note)
    text = as_in_file(typed, former["text"] if first is None else first)
    try:
        note_edit(access=person.access, user_id=person.user_id, place=note.place, text=text, base=base)
    except NoteChangedError:
        # Each of the two texts is a version by now.
        state = state_of(person, note)
        mine, theirs = plain_ends(typed), plain_ends(state["text"])
        merged = merge_texts(plain_ends(first or ""), theirs, mine)
        # base: the digest of theirs. clashes: in how many places both have changed the same lines. Where the text that
        # was opened is not known, both are one after the other in `merged` wherever they differ.
        found = {
            "mine": mine,
            "theirs": theirs,
            "base": state.get("sha256", ""),
            "merged": merged.text,
            "clashes": merged.clashes,
            "difference": difference(theirs, mine),
            "by": state.get("by", ""),
            "at": state.get("at"),
        }
        title = _("%(note)s was changed elsewhere") % {"note": note.title}
        context = {"note": note, "conflict": found, "back": form.cleaned_data["back"] or "note"}
        return render_page(request, person, "webui/notes/conflict.html", title, **context)
    except MemoryHubError as error:
        form.add_error("text", problem_words(error))
        return editor(request, person, note, form, former)
    return saved(request, person, note, base, form.cleaned_data["back"])


def saved(request: HttpRequest, person: Person, note: Note, base: str, back: str) -> HttpResponse:
    """Lead to where a note was edited, with what undoes it: the version that was there before."""
    place = BACK.get(back, "")
    if place:
        messages.success(request, _("%(note)s is saved.") % {"note": note.title})
        return HttpResponseRedirect(reverse(place))
    before = note_versions(person.access, person.user_id, note.place).current().filter(sha256=base)
    former = before.order_by("number").last()
    if former is None:
        messages.success(request, _("Saved."))
        return HttpResponseRedirect(note.url)
    return HttpResponseRedirect(f"{note.url}?undo={former.uuid}")


@require_POST
def preview_part(request: HttpRequest, person: Person) -> HttpResponse:
    """Show how a text that is being typed will look."""
    rendered = render(plain_ends(request.POST.get("text", "")))
    return render_fragment(request, person, "webui/notes/preview.html", preview=rendered)
