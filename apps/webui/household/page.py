"""The page *Household*."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from apps.accounts.selectors import household_people
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import UnavailableError
from apps.core.domain.scope import Scope
from apps.core.selectors import usable_keys
from apps.episodic.selectors import event_parts
from apps.semantic.services import memory_parts
from apps.webui.household.sees import colleagues_seeing, keys_seeing
from apps.webui.pages import render_page
from apps.webui.person import Person


@dataclass(frozen=True)
class Part:
    """A part of what is kept of a person: of one exact scope. events: None while the archive is being read."""

    scope: Scope
    memories: int
    events: int | None

    @property
    def name(self) -> str:
        """Return what the part is called."""
        household, persona = self.scope.household_id, self.scope.persona_id
        if household and persona:
            return _("%(household)s, with %(persona)s") % {"household": household, "persona": persona}
        if household:
            return household
        return _("yours, with %(persona)s") % {"persona": persona} if persona else _("yours alone")


def household_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show what is shared with whom."""
    parts = parts_of(person)
    scopes = [part.scope for part in parts]
    households = sorted({scope.household_id for scope in scopes if scope.household_id})
    context: dict[str, Any] = {
        "parts": parts,
        "households": [
            {"name": name, "people": sorted(people - {person.user_id}) if person.user_id in people else []}
            for name, people in members_of(households).items()
        ],
        "personas": sorted({scope.persona_id for scope in scopes if scope.persona_id}),
        "keys": keys_seeing(person.user_id, scopes),
        "colleagues": colleagues_seeing(scopes),
        "as_of": utcnow(SYSTEM_CLOCK),
    }
    return render_page(request, person, "webui/household/page.html", _("Household"), **context)


def parts_of(person: Person) -> list[Part]:
    """Return the parts of what is kept of a person; what is theirs alone comes first, and is always there."""
    memories = memory_parts(person.access)
    try:
        events: dict[Scope, int] | None = event_parts(person.access)
    except UnavailableError:
        events = None
    scopes = {Scope(person.user_id), *memories, *(events or {})}
    in_order = sorted(scopes, key=lambda scope: (scope.household_id or "", scope.persona_id or ""))
    return [Part(one, memories.get(one, 0), None if events is None else events.get(one, 0)) for one in in_order]


def members_of(households: list[str]) -> dict[str, set[str]]:
    """Return the users whom operators have tied to each household, by a key or an account that is bound to both.

    What applications save under the name of a household makes no one a member: they could write any name.
    """
    people = household_people(households)
    keys = usable_keys(utcnow(SYSTEM_CLOCK)).filter(household_id__in=households).exclude(user_id="")
    for household, user in keys.values_list("household_id", "user_id"):
        people[household].add(user)
    return people
