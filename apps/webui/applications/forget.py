"""Forgetting all that an app learnt: what it would forget, its progress and receipt, and undoing it."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core.domain.errors import MemoryHubError
from apps.core.selectors import actors_of, namesakes
from apps.notes.selectors import note_versions_by
from apps.people.selectors import AppForgetting, forgetting_of
from apps.people.services import learnt_counts, learnt_forget, learnt_restore
from apps.webui.applications.keys import key_or_404
from apps.webui.applications.page import note
from apps.webui.pages import render_fragment, render_page
from apps.webui.person import Person


def forget_page(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Say what would be forgotten, and what would stay; by POST forget it."""
    key = key_or_404(person, uuid)
    if request.method == "POST":
        try:
            record = learnt_forget(user_id=person.user_id, key=key)
        except MemoryHubError as error:
            messages.warning(request, error.detail)
            return HttpResponseRedirect(reverse("webui:app_forget", args=[uuid]))
        note(request, person, "app.forget", key)
        return HttpResponseRedirect(reverse("webui:forgetting", args=[record.uuid]))
    actors = actors_of(key)
    context = {
        "key": key,
        "counts": learnt_counts(person.access, person.user_id, actors),
        "notes": note_versions_by(person.access, actors),
        "is_stopped": person.user_id in key.stopped_by,
        "has_namesake": namesakes(key).exists(),
    }
    title = _("Forget everything %(app)s learnt") % {"app": key.name}
    return render_page(request, person, "webui/applications/forget.html", title, **context)


def forgetting_or_404(person: Person, uuid: UUID) -> AppForgetting:
    """Return a forgetting of the person's. Raises Http404."""
    record = forgetting_of(person.user_id, uuid)
    if record is None:
        raise Http404
    return record


def forgetting_page(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Show how far a forgetting is, and its receipt."""
    record = forgetting_or_404(person, uuid)
    title = _("What %(app)s learnt") % {"app": record.key_name}
    return render_page(request, person, "webui/applications/forgetting.html", title, record=record)


def forgetting_state(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Show the part of the page that says how far it is."""
    record = forgetting_or_404(person, uuid)
    return render_fragment(request, person, "webui/applications/state.html", record=record)


@require_POST
def forgetting_undo(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Bring all memories of a forgetting back."""
    record = forgetting_or_404(person, uuid)
    try:
        learnt_restore(user_id=person.user_id, uuid=record.uuid)
    except MemoryHubError as error:
        messages.warning(request, error.detail)
    return HttpResponseRedirect(reverse("webui:forgetting", args=[uuid]))
