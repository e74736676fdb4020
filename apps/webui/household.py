"""The page *Household*: what is shared with whom, and who may see what of a person."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from apps.accounts.selectors import Colleague, colleagues, person_names
from apps.core.db.memberships import display_names, members_of, names_of_member
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import UnavailableError
from apps.core.domain.scope import Access, AccessStoppedError, Permission, Reach, Scope
from apps.core.selectors import usable_keys, with_foreign
from apps.episodic.domain.event import ScopeKey
from apps.episodic.selectors import event_parts
from apps.semantic.services import memory_parts
from apps.webui.pages import render_page
from apps.webui.person import Person

VIEW_MEMORIES = "semantic.view_memory"
CHANGE_MEMORIES = frozenset({"semantic.change_memory", "semantic.delete_memory"})
VIEW_EVENTS = "episodic.view_timelineevent"
NEEDED = (VIEW_MEMORIES, *sorted(CHANGE_MEMORIES), VIEW_EVENTS)


@dataclass(frozen=True)
class Sees:
    """What someone may do with a part of what is kept of a person. days: events of the timeline.

    It is computed from the access with which requests are answered, so it says what is so, not what was meant.
    """

    memories: bool = False
    days: bool = False
    changes: bool = False

    @property
    def is_nothing(self) -> bool:
        """Return whether they see nothing of it."""
        return not (self.memories or self.days)


@dataclass(frozen=True)
class Seer:
    """An application or an account, and what it may do with each part. uuid: of a key; None for an account."""

    name: str
    cells: tuple[Sees, ...]
    uuid: UUID | None = None
    is_stopped: bool = False

    @property
    def sees_any(self) -> bool:
        """Return whether it sees something."""
        return not all(cell.is_nothing for cell in self.cells)


def covers(reach: Reach, part: Scope) -> bool:
    """Return whether a read covers the rows of an exact scope."""
    key = ScopeKey.of(part)
    return key.user_id in reach.owners or (reach.scope is not None and key.is_in(reach.scope))


def key_sees(access: Access, part: Scope) -> Sees:
    """Return what a key may do with the rows of an exact scope."""
    try:
        reads, owns = covers(access.readable, part), covers(access.reach(Scope()), part)
    except AccessStoppedError:
        return Sees()
    return Sees(reads, reads, owns and access.allows(Permission.WRITE))


def colleague_sees(colleague: Colleague, part: Scope) -> Sees:
    """Return what an account may do with the rows of an exact scope on the pages of the admin."""
    is_inside = covers(colleague.access.reach(Scope()), part)
    return Sees(
        memories=is_inside and bool(colleague.permissions & {VIEW_MEMORIES, *CHANGE_MEMORIES}),
        days=is_inside and VIEW_EVENTS in colleague.permissions,
        changes=is_inside and bool(colleague.permissions & CHANGE_MEMORIES),
    )


def keys_seeing(user_id: str, parts: Collection[Scope]) -> list[Seer]:
    """Return the keys that see something of a user, or would if the user had not stopped them."""
    keys = usable_keys(utcnow(SYSTEM_CLOCK)).order_by("name", "pk")
    seers = [
        Seer(key.name, tuple(key_sees(key.access, part) for part in parts), key.uuid, user_id in key.stopped_by)
        for key in with_foreign(keys)
    ]
    return [seer for seer in seers if seer.sees_any or seer.is_stopped]


def colleagues_seeing(parts: Collection[Scope]) -> list[Seer]:
    """Return the accounts that see something of a user in the admin."""
    seers = [Seer(one.name, tuple(colleague_sees(one, part) for part in parts)) for one in colleagues(NEEDED)]
    return [seer for seer in seers if seer.sees_any]


@dataclass(frozen=True)
class KeptScope:
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


def parts_of(person: Person) -> list[KeptScope]:
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
        KeptScope(
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
