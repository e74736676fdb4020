"""The pages of one memory: read, correct, forget, bring back, say that it still holds."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.selectors import Memory, MemoryStatus
from apps.semantic.services import (
    MemoryEdit,
    memory_delete,
    memory_reinforce,
    memory_restore,
    memory_successors,
    memory_update,
)
from apps.webui.memory.audience import audience_of
from apps.webui.memory.found import found_or_404
from apps.webui.memory.history import steps_of
from apps.webui.memory.mend import replacement_of
from apps.webui.memory.origin import origin_of
from apps.webui.pages import render_page
from apps.webui.person import Person
from apps.webui.problems import words_of

MAX_CONTENT_CHARS = 20_000


class CorrectionForm(forms.Form):
    """Other words for a memory. version: that the person has read."""

    content = forms.CharField(
        label=gettext_lazy("What is right?"), max_length=MAX_CONTENT_CHARS, widget=forms.Textarea(attrs={"rows": 4})
    )
    version = forms.CharField(required=False, widget=forms.HiddenInput)


def memory_page(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Show a memory, and what can be done about it."""
    memory = found_or_404(person, uuid)
    form = CorrectionForm(initial={"content": memory.content, "version": memory.version_tag})
    return render_page(request, person, "webui/memory/page.html", _("A memory"), **shown(person, memory), form=form)


def shown(person: Person, memory: Memory) -> dict[str, Any]:
    """Return what the page of a memory shows."""
    now = utcnow(SYSTEM_CLOCK)
    is_active = memory.status == MemoryStatus.ACTIVE and not memory.has_expired(now)
    return {
        "memory": memory,
        "steps": steps_of(person, memory),
        "is_active": is_active,
        "is_deleted": memory.status == MemoryStatus.DELETED,
        "successors": memory_successors(person.access, memory) if is_active else [],
        "can_change": is_active and not memory.managed_by,
        "fades": is_active and memory.decay_policy == DecayPolicy.REINFORCEABLE,
        "confidence": round(100 * memory.confidence_at(now)),
        **replacement_of(person, memory),
        **origin_of(person, memory),
        **audience_of(person, memory),
    }


@require_POST
def memory_correct(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Give a memory other words; what it said before stays in its history."""
    memory = found_or_404(person, uuid)
    form = CorrectionForm(request.POST)
    if form.is_valid():
        edit = MemoryEdit({"content": form.cleaned_data["content"]}, version=form.cleaned_data["version"] or None)
        try:
            saved = memory_update(access=person.access, uuid=uuid, edit=edit)
        except MemoryHubError as error:
            form.add_error("content", words_of(error))
        else:
            messages.success(request, _("Corrected."))
            return HttpResponseRedirect(reverse("webui:memory", args=[saved.memory.uuid]))
    return render_page(request, person, "webui/memory/page.html", _("A memory"), **shown(person, memory), form=form)


def changed(request: HttpRequest, person: Person, uuid: UUID, service: Callable[..., Any], done: str) -> HttpResponse:
    """Apply a service to a memory, and show the memory again with what was done or why not."""
    found_or_404(person, uuid)
    try:
        service(access=person.access, uuid=uuid)
    except MemoryHubError as error:
        messages.warning(request, words_of(error))
    else:
        messages.success(request, done)
    return HttpResponseRedirect(reverse("webui:memory", args=[uuid]))


@require_POST
def memory_forget(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Forget a memory; it can be brought back from its page. What it had replaced holds again, or is asked about."""
    return changed(request, person, uuid, memory_delete, _("Forgotten. Assistants no longer find it."))


@require_POST
def memory_restored(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Bring back a forgotten memory."""
    return changed(request, person, uuid, memory_restore, _("It is back, as it was."))


@require_POST
def memory_still_true(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Say that a memory which fades still holds."""
    return changed(request, person, uuid, memory_reinforce, _("Noted: this still holds."))
