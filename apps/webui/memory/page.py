"""The pages of one memory: read, correct, forget, bring back, share, and mend a wrong replacement."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.core.db.memberships import display_names, names_of_member
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.core.selectors import usable_keys, with_foreign
from apps.given.selectors import memory_uses
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.selectors import (
    Memory,
    MemoryStatus,
    conflict_get,
    last_decision,
    memories_replaced,
    memory_get_any,
    memory_history,
)
from apps.semantic.services import (
    REPLACED,
    MemoryEdit,
    current_successor,
    decision_undo,
    memory_delete,
    memory_hold,
    memory_reinforce,
    memory_restore,
    memory_set_household,
    memory_successors,
    memory_update,
)
from apps.webui.differing import differing
from apps.webui.memory.history import SHOWN_APPS, saver, sources_of, steps_of
from apps.webui.pages import render_page
from apps.webui.person import Person, who
from apps.webui.problems import words_of

MAX_CONTENT_CHARS = 20_000
MAX_KEYS = 1_000
SHOWN_REPLACED, SHOWN_CHARS = 20, 1_000


def found_or_404(person: Person, uuid: UUID) -> Memory:
    """Return a memory of the person's, deleted or not. Raises Http404."""
    try:
        return memory_get_any(person.access, uuid)
    except NotFoundError:
        raise Http404 from None


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
    first = memory_history(person.access, memory.uuid).first()
    keys = with_foreign(usable_keys(utcnow(SYSTEM_CLOCK)).order_by("name", "pk")[:MAX_KEYS])
    # By their bound or a grant, unless the person has stopped them.
    readers = {
        key.name
        for key in keys
        if memory.user_id not in key.stopped_by
        and (memory.user_id in key.reads or key.access.bound.contains(memory.scope))
    }
    called = display_names("household_id", {memory.household_id, *households_of(person)})
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
        "saved_by": saver(first.actor if first is not None else "", memory),
        "sources": sources_of(person, memory),
        "uses": memory_uses(person.access, memory.uuid, SHOWN_APPS),
        "uses_days": settings.MEMORYHUB.given_days,
        "household": called.pop(memory.household_id, ""),
        "households": sorted(called.items()),
        "readers": sorted(readers),
    }


@require_POST
def memory_correct(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Give a memory other words; what it said before stays in its history."""
    memory = found_or_404(person, uuid)
    form = CorrectionForm(request.POST)
    if form.is_valid():
        version = form.cleaned_data["version"]
        edit = MemoryEdit({"content": form.cleaned_data["content"]}, versions=(version,) if version else None)
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


def households_of(person: Person) -> list[str]:
    """Return the households that the person belongs to."""
    return sorted(names_of_member(person.user_id, "household_id"))


@require_POST
def memory_keep_for(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Keep a memory for the person alone, or for one of their households too."""
    found_or_404(person, uuid)
    household, back = request.POST.get("household", ""), HttpResponseRedirect(reverse("webui:memory", args=[uuid]))
    if household and household not in households_of(person):
        messages.warning(request, _("This is not one of your households."))
        return back
    try:
        memory_set_household(access=person.access, uuid=uuid, household_id=household)
    except MemoryHubError as error:
        messages.warning(request, error.detail)
    else:
        messages.success(request, _("Shared with the household.") if household else _("It is yours alone now."))
    return back


def replacement_of(person: Person, memory: Memory) -> dict[str, Any]:
    """Return what took the place of a memory and who decided so, what it replaced, and what can be mended."""
    is_replaced, is_deleted = memory.status in REPLACED, memory.status == MemoryStatus.DELETED
    now = current_successor(person.access, memory) if is_replaced else None
    decision = last_decision(person.access, memory)
    is_own = decision is not None and decision.actor == person.access.actor and decision.origin == "override"
    return {
        "is_replaced": is_replaced,
        "now": now,
        "now_pieces": differing(memory.content, now.content, SHOWN_CHARS)[1] if now else [],
        "decided_by": who(decision.actor, person) if decision else "",
        "decided_at": decision.at if decision else None,
        "own_decision": decision if is_own else None,
        "can_mend": is_replaced and not memory.managed_by,
        "replaced": memories_replaced(person.access, memory, SHOWN_REPLACED),
        "came_back": memories_replaced(person.access, memory, SHOWN_REPLACED, came_back=True) if is_deleted else [],
    }


@require_POST
def memory_both_true(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Have a replaced memory hold beside what replaced it."""
    hold = partial(memory_hold, alone=False)
    return changed(request, person, uuid, hold, _("Noted: both are true. Your assistants find both."))


@require_POST
def memory_this_true(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Have a replaced memory hold instead of what replaced it."""
    hold = partial(memory_hold, alone=True)
    return changed(request, person, uuid, hold, _("Noted: this one is true. Your assistants find it again."))


@require_POST
def decision_take_back(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Undo a decision, and lead back to the memory that `memory` names, or to the list of decisions."""
    try:
        receipt = conflict_get(person.access, uuid)
    except NotFoundError:
        raise Http404 from None
    try:
        decision_undo(access=person.access, uuid=uuid)
    except MemoryHubError as error:
        messages.warning(request, words_of(error))
    else:
        is_rule = receipt.origin != "override" and receipt.outcome != "noticed"
        messages.success(request, _("Undone: both are true now.") if is_rule else _("Taken back."))
    sides = {str(one.uuid) for one in (receipt.candidate, receipt.existing)}
    memory = request.POST.get("memory", "")
    to_memory = memory in sides
    return HttpResponseRedirect(reverse("webui:memory", args=[memory]) if to_memory else reverse("webui:decided"))
