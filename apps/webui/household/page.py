"""The page *Household*."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from apps.accounts.selectors import person_names
from apps.core.db.memberships import display_names, members_of, names_of_member
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import UnavailableError
from apps.core.domain.scope import Scope
from apps.episodic.selectors import event_parts
from apps.semantic.services import memory_parts
from apps.webui.household.sees import colleagues_seeing, keys_seeing
from apps.webui.pages import render_page
from apps.webui.person import Person


@dataclass(frozen=True)
class Part:
    """A part of what is kept of a person: of one exact scope. events: None while the archive is being read."""

    scope: Scope
    name: str
    memories: int
    events: int | None


def household_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show what is shared with whom."""
    parts = parts_of(person)
    scopes = [part.scope for part in parts]
    households = sorted(names_of_member(person.user_id, "household_id"))
    called = display_names("household_id", households)
    personas = display_names("persona_id", names_of_member(person.user_id, "persona_id"))
    context: dict[str, Any] = {
        "parts": parts,
        "households": [
            {
                "name": called[name],
                "people": others_of(people - {person.user_id}),
                "shared": sum(part.memories for part in parts if part.scope.household_id == name),
            }
            for name, people in members_of(households).items()
        ],
        "personas": sorted(personas.values()),
        "keys": keys_seeing(person.user_id, scopes),
        "colleagues": colleagues_seeing(scopes),
        "as_of": utcnow(SYSTEM_CLOCK),
    }
    return render_page(request, person, "webui/household/page.html", _("Household"), **context)


def others_of(people: Collection[str]) -> list[dict[str, str]]:
    """Return people by the names that they chose, and by their ids, since a name may be chosen twice."""
    names = person_names(people)
    return [{"id": one, "name": names.get(one, one)} for one in sorted(people)]


def parts_of(person: Person) -> list[Part]:
    """Return the parts of what is kept of a person; what is theirs alone comes first, and is always there."""
    memories = memory_parts(person.access)
    try:
        events: dict[Scope, int] | None = event_parts(person.access)
    except UnavailableError:
        events = None
    scopes = {Scope(person.user_id), *memories, *(events or {})}
    in_order = sorted(scopes, key=lambda scope: (scope.household_id or "", scope.persona_id or ""))
    households = display_names("household_id", {one.household_id or "" for one in scopes})
    personas = display_names("persona_id", {one.persona_id or "" for one in scopes})
    return [
        Part(
            one,
            name_of(households.get(one.household_id or "", ""), personas.get(one.persona_id or "", "")),
            memories.get(one, 0),
            None if events is None else events.get(one, 0),
        )
        for one in in_order
    ]


def name_of(household: str, persona: str) -> str:
    """Return what the part of a household and a persona is called; each is blank for none."""
    if household and persona:
        return _("%(household)s, with %(persona)s") % {"household": household, "persona": persona}
    if household:
        return household
    return _("yours, with %(persona)s") % {"persona": persona} if persona else _("yours alone")
