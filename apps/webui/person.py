"""The person who looks at a page, what they may do (as a key that is bound to their id), and who did something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import HttpRequest
from django.utils.translation import gettext as _

from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Access, Permission, Scope
from apps.core.models import IMPORT_ACTOR
from apps.core.pauses import PERSON

if TYPE_CHECKING:
    from apps.people.selectors import Look

KEY, OPERATOR = "key:", "admin:"


@dataclass(frozen=True)
class Person:
    """Whose pages are shown. user_id: whose memories. name: of the account that is signed in.

    shown: what that account is called on pages.
    look: while an operator looks at the pages of this person, who then is not the one that is signed in.
    """

    user_id: str
    name: str
    look: Look | None = None
    shown: str = ""

    @property
    def scope(self) -> Scope:
        """Return the scope of all that is theirs."""
        return Scope(self.user_id)

    @property
    def access(self) -> Access:
        """Return what they may do: read and write what is theirs, and nothing else. Who looks may read."""
        if self.look is not None:
            return Access(self.scope, Permission.READ, f"admin:{self.name}")
        return Access(self.scope, Permission.WRITE, f"{PERSON}{self.user_id}", origin=WriteOrigin.PERSON)


def person_of(request: HttpRequest) -> Person | None:
    """Return the person whom the signed-in account belongs to, or looks at; None for an account that is no person's."""
    # Here, since a tag of templates needs this module before the admin is there, which the selectors need.
    from apps.people.selectors import look_of

    if (look := look_of(request)) is not None:
        return Person(look.user_id, request.user.get_username(), look, shown_name(request))
    account = getattr(request.user, "account", None)
    if account is None or not account.person_id:
        return None
    return Person(account.person_id, request.user.get_username(), shown=shown_name(request))


def shown_name(request: HttpRequest) -> str:
    """Return the name that the signed-in account has chosen, else that with which it signs in."""
    user = request.user
    return (user.get_full_name() if user.is_authenticated else "") or user.get_username()


def who(actor: str, person: Person) -> str:
    """Return who did something: the person themselves, an app by its name, an operator, or the hub."""
    if actor == f"{PERSON}{person.user_id}":
        return _("You")
    if actor.startswith(PERSON):
        return actor.removeprefix(PERSON)
    if actor.startswith(KEY):
        return actor.removeprefix(KEY)
    if actor.startswith(OPERATOR):
        return _("An operator (%(name)s)") % {"name": actor.removeprefix(OPERATOR)}
    if actor.startswith(IMPORT_ACTOR):
        return _("An import")
    return _("The hub")
