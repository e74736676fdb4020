"""Whom a memory is for: the person alone, or a household of theirs."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core.db.memberships import display_names, names_of_member
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.models import ApiKey
from apps.core.selectors import usable_keys, with_foreign
from apps.semantic.selectors import Memory
from apps.semantic.services import memory_set_household
from apps.webui.memory.found import found_or_404
from apps.webui.person import Person

MAX_KEYS = 1_000


def audience_of(person: Person, memory: Memory) -> dict[str, Any]:
    """Return whom a memory is for, which households it could be for, and which apps can read it."""
    keys = with_foreign(usable_keys(utcnow(SYSTEM_CLOCK)).order_by("name", "pk")[:MAX_KEYS])
    called = display_names("household_id", {memory.household_id, *households_of(person)})
    return {
        "household": called.pop(memory.household_id, ""),
        "households": sorted(called.items()),
        "readers": sorted({key.name for key in keys if can_read(key, memory)}),
    }


def households_of(person: Person) -> list[str]:
    """Return the households that the person belongs to."""
    return sorted(names_of_member(person.user_id, "household_id"))


def can_read(key: ApiKey, memory: Memory) -> bool:
    """Return whether a key can read a memory: by its bound or a grant, unless the person has stopped it."""
    if memory.user_id in key.stopped_by:
        return False
    return memory.user_id in key.reads or key.access.bound.contains(memory.scope)


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
