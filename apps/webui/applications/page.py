"""The pages *Apps*: the list, what one learnt, stopping it, and forgetting all that it learnt."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.audit.services import note_act
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.models import ApiKey
from apps.core.selectors import actors_of, namesakes
from apps.core.services import key_let_in, key_stop
from apps.notes.selectors import note_versions_by
from apps.people.selectors import AppForgetting, forgetting_of
from apps.people.services import learnt_counts, learnt_forget, learnt_restore
from apps.semantic.services import memories_learnt
from apps.webui.applications.keys import apps_of, ended, key_or_404, says_what, says_whom
from apps.webui.pages import render_fragment, render_page
from apps.webui.person import Person

PER_PAGE = 50


def apps_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show the keys that reach what is the person's."""
    found = apps_of(person)
    context = {
        "apps": [app for app in found if not app["has_ended"]],
        "ended_apps": [app for app in found if app["has_ended"]],
    }
    return render_page(request, person, "webui/applications/page.html", _("Apps"), **context)


def app_page(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Show what a key may do, and what it learnt of the person."""
    key = key_or_404(person, uuid)
    actors = actors_of(key)
    memories = memories_learnt(person.access, actors)
    page = Paginator(memories, PER_PAGE).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "key": key,
        "what": says_what(key, person.user_id),
        "whom": says_whom(key, person.user_id),
        "is_stopped": person.user_id in key.stopped_by,
        "has_ended": ended(key, utcnow(SYSTEM_CLOCK)),
        "has_namesake": namesakes(key).exists(),
        "page": page,
        "events": learnt_counts(person.access, person.user_id, actors).events,
        "notes": note_versions_by(person.access, actors),
        "notes_url": reverse("webui:notes"),
        "total": page.paginator.count,
    }
    return render_page(request, person, "webui/applications/app.html", key.name, **context)


def note(request: HttpRequest, person: Person, action: str, key: ApiKey) -> None:
    """Have an act of the person about a key written into the audit."""
    note_act(
        actor_kind="person",
        actor=person.access.actor,
        action=action,
        object_type="core.apikey",
        object_id=str(key.pk),
        scope=person.scope,
        address=request.META.get("REMOTE_ADDR"),
        detail={"name": key.name},
    )


def changed(
    request: HttpRequest, person: Person, uuid: UUID, service: Callable[..., Any], action: str, done: str
) -> HttpResponse:
    """Apply a service to a key, and show the key again with what was done or why not."""
    key = key_or_404(person, uuid)
    try:
        service(uuid=key.uuid, user_id=person.user_id)
    except MemoryHubError as error:
        messages.warning(request, error.detail)
    else:
        note(request, person, action, key)
        messages.success(request, done % {"app": key.name})
    return HttpResponseRedirect(reverse("webui:app", args=[uuid]))


@require_POST
def app_stop(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """End what a key may do with what is the person's."""
    done = _("Stopped: %(app)s can neither read nor write your data.")
    return changed(request, person, uuid, key_stop, "app.stop", done)


@require_POST
def app_let_in(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Let a key do again what it may with what is the person's."""
    done = _("%(app)s can read and write again as before.")
    return changed(request, person, uuid, key_let_in, "app.let_in", done)


def app_forget_page(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
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
