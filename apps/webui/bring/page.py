"""The page *Bring what you have*, and the pages of each import."""

from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.audit.services import note_object
from apps.core.domain.errors import InvalidInputError, MemoryHubError, NotFoundError
from apps.imports.domain.counts import Counts
from apps.imports.domain.found import Kind, Reason, Target
from apps.imports.selectors import OPEN_STATES, UPLOADED_STATES, Import, ImportState, has_file, import_get, import_list
from apps.imports.services import (
    UPLOAD_SUFFIXES,
    import_confirm,
    import_drop,
    import_undo_request,
    import_upload,
    upload_name,
)
from apps.webui.bring.words import KINDS, REASONS, STATES, TARGETS, problem_words, words_of
from apps.webui.pages import render_fragment, render_page
from apps.webui.person import Person

PER_PAGE, EXAMPLES = 20, 8
MEBIBYTE = 1024 * 1024


def max_bytes() -> int:
    """Return how large an uploaded file may be."""
    return settings.MEMORYHUB.upload_mb * MEBIBYTE


class BringForm(forms.Form):
    """A file to bring. kind: empty for one that is to be recognised. from_user: as mem0 names the person."""

    file = forms.FileField(
        label=gettext_lazy("File"),
        error_messages={
            "required": gettext_lazy("Choose a file."),
            "missing": gettext_lazy("Choose a file."),
            "invalid": gettext_lazy("No file arrived. Choose it again."),
            "empty": gettext_lazy("This file is empty. Choose another one."),
        },
        widget=forms.FileInput(attrs={"accept": ",".join(UPLOAD_SUFFIXES)}),
    )
    kind = forms.ChoiceField(
        label=gettext_lazy("What it is"),
        required=False,
        choices=(("", gettext_lazy("Recognise it from the file")), *KINDS.items()),
    )
    from_user = forms.CharField(
        label=gettext_lazy("Your user id there"),
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false"}),
    )

    def clean_file(self) -> UploadedFile:
        """Return the file. Raises ValidationError for one that is too large or of another kind."""
        file: UploadedFile = self.cleaned_data["file"]
        if (file.size or 0) > max_bytes():
            size = filesizeformat(max_bytes())
            raise forms.ValidationError(
                _("This file is larger than %(size)s. Ask who runs this hub to import it for you.") % {"size": size}
            )
        try:
            upload_name(file.name or "")
        except InvalidInputError as error:
            raise forms.ValidationError(words_of(error)) from error
        return file


def bring_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show what can be brought and the earlier imports; by POST take a file, and lead to what it would bring."""
    form = BringForm(request.POST, request.FILES) if request.method == "POST" else BringForm()
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data
        try:
            record = import_upload(
                access=person.access,
                kind=Kind(chosen["kind"]) if chosen["kind"] else None,
                name=chosen["file"].name,
                chunks=chosen["file"].chunks(),
                from_user=chosen["from_user"],
            )
        except MemoryHubError as error:
            messages.warning(request, words_of(error))
            return HttpResponseRedirect(reverse("webui:bring"))
        note_object("import", record.uuid, scope=person.scope)
        return to_import(record)
    page: Any = Paginator(import_list(person.access), PER_PAGE).get_page(request.GET.get("page"))
    return render_page(
        request,
        person,
        "webui/bring/page.html",
        _("Bring what you have"),
        form=form,
        max_bytes=max_bytes(),
        page=page,
        rows=[row_of(record) for record in page],
        is_open=import_list(person.access).filter(state__in=OPEN_STATES).exists(),
    )


def row_of(record: Import) -> dict[str, Any]:
    """Return an import as the list shows it."""
    return {"record": record, "kind": KINDS.get(record.kind, ""), "state": STATES[record.state]}


def import_or_404(person: Person, uuid: UUID) -> Import:
    """Return an import of the person's. Raises Http404."""
    try:
        return import_get(person.access, uuid)
    except NotFoundError:
        raise Http404 from None


def shown_import(record: Import) -> dict[str, Any]:
    """Return what is shown of an import: how far it is, and its counts, of what would be or of what was."""
    is_before = record.state in UPLOADED_STATES
    counts = Counts.from_json(record.looked if is_before else record.counts)
    undone = record.undone
    return {
        **row_of(record),
        "goes_on": record.state in {ImportState.WAITING, *OPEN_STATES},
        "percent": min(99, 100 * record.done // record.total) if record.total else 0,
        "problem": problem_words(record.problem) if record.problem else "",
        "is_before": is_before,
        "counts": counts,
        "found": [
            {"words": TARGETS[one], "kept": counts.kept[one.value], "known": counts.known[one.value], "name": one.value}
            for one in Target
            if counts.kept[one.value] or counts.known[one.value]
        ],
        "kept": counts.kept.total(),
        "refused": counts.refused.total(),
        "reasons": [(REASONS.get(one, REASONS[Reason.OTHER]), count) for one, count in counts.refused.most_common()],
        "examples": [(place, REASONS.get(one, REASONS[Reason.OTHER])) for place, one in counts.named[:EXAMPLES]],
        "undone": [
            (TARGETS[one], undone["forgotten"].get(one.value, 0), undone["kept"].get(one.value, 0))
            for one in Target
            if undone and (undone["forgotten"].get(one.value) or undone["kept"].get(one.value))
        ],
        "can_retry": record.state == ImportState.FAILED and has_file(record),
        "can_undo": record.state in {ImportState.DONE, ImportState.FAILED},
    }


def import_page(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Show how far an import is, what it would bring, or what it brought."""
    shown = shown_import(import_or_404(person, uuid))
    return render_page(request, person, "webui/bring/import.html", _("Bring what you have"), **shown)


def import_state(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Show the part of the page that changes."""
    shown = shown_import(import_or_404(person, uuid))
    return render_fragment(request, person, "webui/bring/state.html", **shown)


def to_import(record: Import) -> HttpResponse:
    """Lead to the page of an import."""
    return HttpResponseRedirect(reverse("webui:bring_import", args=[record.uuid]))


@require_POST
def bring_confirm(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Bring in a file that was looked at, or go on with an import that failed."""
    record = import_or_404(person, uuid)
    try:
        import_confirm(access=person.access, uuid=record.uuid)
    except MemoryHubError as error:
        messages.warning(request, words_of(error))
    else:
        note_object("import", record.uuid, scope=person.scope)
    return to_import(record)


@require_POST
def bring_drop(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Remove a file that is not to be brought in."""
    record = import_or_404(person, uuid)
    try:
        import_drop(access=person.access, uuid=record.uuid)
    except MemoryHubError as error:
        messages.warning(request, words_of(error))
        return to_import(record)
    note_object("import", record.uuid, scope=person.scope)
    messages.success(request, _("The file is removed. Nothing was brought in."))
    return HttpResponseRedirect(reverse("webui:bring"))


def bring_undo(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Say what undoing an import does; by POST undo it."""
    record = import_or_404(person, uuid)
    if request.method != "POST":
        shown = shown_import(record)
        if not shown["can_undo"]:
            return to_import(record)
        return render_page(request, person, "webui/bring/undo.html", _("Undo this import?"), **shown)
    try:
        import_undo_request(access=person.access, uuid=record.uuid)
    except MemoryHubError as error:
        messages.warning(request, words_of(error))
    else:
        note_object("import", record.uuid, scope=person.scope)
    return to_import(record)
