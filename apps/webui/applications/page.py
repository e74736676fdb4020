"""The pages *Apps*: the list, what one learnt, and stopping it."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
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
from apps.people.services import learnt_counts
from apps.semantic.services import memories_learnt
from apps.webui.applications.keys import apps_of, ended, key_or_404
from apps.webui.applications.words import says_what, says_whom
from apps.webui.pages import render_page
from apps.webui.person import Person

PER_PAGE = 50


def apps_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show the keys that reach what is the person's."""
    found = apps_of(person)
    context = {
        "apps": [app for app in found if not app.has_ended],
        "ended_apps": [app for app in found if app.has_ended],
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


@require_POST
def app_stop(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """End what a key may do with what is the person's."""
    key = key_or_404(person, uuid)
    try:
        key_stop(uuid=key.uuid, user_id=person.user_id)
    except MemoryHubError as error:
        messages.warning(request, error.detail)
    else:
        note(request, person, "app.stop", key)
        messages.success(request, _("Stopped: %(app)s can neither read nor write your data.") % {"app": key.name})
    return HttpResponseRedirect(reverse("webui:app", args=[uuid]))


@require_POST
def app_let_in(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Let a key do again what it may with what is the person's."""
    key = key_or_404(person, uuid)
    try:
        key_let_in(uuid=key.uuid, user_id=person.user_id)
    except MemoryHubError as error:
        messages.warning(request, error.detail)
    else:
        note(request, person, "app.let_in", key)
        messages.success(request, _("%(app)s can read and write again as before.") % {"app": key.name})
    return HttpResponseRedirect(reverse("webui:app", args=[uuid]))
