"""Mending a wrong replacement: both are true, or this one is true, and what was decided is undone again."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.semantic.selectors import Memory, MemoryStatus, conflict_get, last_decision, memories_replaced
from apps.semantic.services import REPLACED, current_successor, decision_undo, memory_hold
from apps.webui.actors import who
from apps.webui.differing import differing
from apps.webui.memory.found import found_or_404
from apps.webui.person import Person
from apps.webui.problems import words_of

SHOWN_REPLACED, SHOWN_CHARS = 20, 1_000


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
    return held(request, person, uuid, alone=False)


@require_POST
def memory_this_true(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Have a replaced memory hold instead of what replaced it."""
    return held(request, person, uuid, alone=True)


def held(request: HttpRequest, person: Person, uuid: UUID, *, alone: bool) -> HttpResponse:
    """Have a replaced memory hold, and show it with what was done or why not."""
    found_or_404(person, uuid)
    try:
        memory_hold(access=person.access, uuid=uuid, alone=alone)
    except MemoryHubError as error:
        messages.warning(request, words_of(error))
    else:
        words = _("Noted: this one is true. Your assistants find it again.")
        messages.success(request, words if alone else _("Noted: both are true. Your assistants find both."))
    return HttpResponseRedirect(reverse("webui:memory", args=[uuid]))


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
