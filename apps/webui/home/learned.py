"""What assistants remembered a moment ago, each with a way to take it back."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.semantic.services import Learned, learned_lately, learned_undo
from apps.webui.actors import KEY
from apps.webui.memory.page import found_or_404
from apps.webui.pages import render_fragment
from apps.webui.person import Person
from apps.webui.problems import words_of

JUST_NOW = timedelta(hours=1)
SHOWN = 3


def home_learned(request: HttpRequest, person: Person) -> HttpResponse:
    """Show the live part of *Home* about what was just learned."""
    return render_fragment(request, person, "webui/home/learned.html", **just_learned(person))


def just_learned(person: Person) -> dict[str, Any]:
    """Return what was learned within an hour, the newest first."""
    now = utcnow(SYSTEM_CLOCK)
    found = learned_lately(person.access, now - JUST_NOW, SHOWN)
    return {"learned": [{"memory": one.memory, "app": app_of(one)} for one in found], "learned_as_of": now}


def app_of(learned: Learned) -> str:
    """Return the name of the application that saved a memory; empty where the hub itself did."""
    return learned.actor.removeprefix(KEY) if learned.actor.startswith(KEY) else ""


@require_POST
def learned_take_back(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Forget what was just learned, and bring back what it had replaced."""
    found_or_404(person, uuid)
    try:
        memory = learned_undo(access=person.access, uuid=uuid)
    except MemoryHubError as error:
        messages.warning(request, words_of(error))
    else:
        link = reverse("webui:memory", args=[memory.uuid])
        words = _("Taken back: it is forgotten, and what it had replaced holds again.")
        messages.success(request, format_html('{} <a href="{}">{}</a>', words, link, _("See it")))
    return HttpResponseRedirect(reverse("webui:home"))
