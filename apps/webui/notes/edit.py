"""Editing a note, with a preview; and what to do where it was changed elsewhere since it was opened."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.core.domain.errors import MemoryHubError
from apps.notes.domain.merge import as_in_file, merge_texts, plain_ends
from apps.notes.selectors import MAX_NOTE_BYTES, note_versions, version_text
from apps.notes.services import NoteChangedError, note_edit
from apps.webui.notes.differences import Difference, difference
from apps.webui.notes.markdown import render
from apps.webui.notes.page import state_of
from apps.webui.notes.places import Note, note_or_404
from apps.webui.notes.problems import code_words, problem_words
from apps.webui.pages import render_fragment, render_page
from apps.webui.person import Person

# Where to go on after a note is saved, by what a form names.
BACK = {"note": "", "settings": "webui:memory_settings"}


class EditForm(forms.Form):
    """The text of a note. base: the digest of the text that was opened. back: where the editor was opened."""

    text = forms.CharField(label=gettext_lazy("Text"), required=False, strip=False, widget=forms.Textarea)
    base = forms.RegexField(r"^[0-9a-f]{64}$", widget=forms.HiddenInput)
    back = forms.ChoiceField(choices=[(name, name) for name in BACK], required=False, widget=forms.HiddenInput)


@dataclass(frozen=True)
class Conflict:
    """Two texts of a note: mine, and theirs, which is there now. base: the digest of theirs.

    merged: both as one. clashes: in how many places both have changed the same lines. has_first: whether the text that
    was opened is known; without it, both texts are one after the other wherever they differ.
    """

    mine: str
    theirs: str
    base: str
    merged: str
    clashes: int
    difference: Difference
    by: str
    at: Any


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
    first, former = text_of_digest(person, note, base), state_of(person, note)
    text = as_in_file(typed, former["text"] if first is None else first)
    try:
        note_edit(access=person.access, user_id=person.user_id, place=note.place, text=text, base=base)
    except NoteChangedError:
        return conflict_page(request, person, note, form, first)
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


def text_of_digest(person: Person, note: Note, base: str) -> str | None:
    """Return the text that was opened, as it was in the file; None where no version has it."""
    version = note_versions(person.access, person.user_id, note.place).filter(sha256=base).order_by("number").last()
    return None if version is None else version_text(version).decode(errors="replace")


def conflict_page(request: HttpRequest, person: Person, note: Note, form: EditForm, first: str | None) -> HttpResponse:
    """Show both texts side by side, what differs, and both as one. Each of them is a version by now."""
    found = conflict_of(person, note, form.cleaned_data["text"], first)
    title = _("%(note)s was changed elsewhere") % {"note": note.title}
    context = {"note": note, "conflict": found, "back": form.cleaned_data["back"] or "note"}
    return render_page(request, person, "webui/notes/conflict.html", title, **context)


def conflict_of(person: Person, note: Note, typed: str, first: str | None) -> Conflict:
    """Return what was typed beside the note as it is now."""
    state = state_of(person, note)
    mine, theirs = plain_ends(typed), plain_ends(state["text"])
    merged = merge_texts(plain_ends(first or ""), theirs, mine)
    return Conflict(
        mine=mine,
        theirs=theirs,
        base=state.get("sha256", ""),
        merged=merged.text,
        clashes=merged.clashes,
        difference=difference(theirs, mine),
        by=state.get("by", ""),
        at=state.get("at"),
    )


@require_POST
def preview_part(request: HttpRequest, person: Person) -> HttpResponse:
    """Show how a text that is being typed will look."""
    rendered = render(plain_ends(request.POST.get("text", "")))
    return render_fragment(request, person, "webui/notes/preview.html", preview=rendered)
