"""The person who looks at a page, and what they may do: what a key that is bound to their id may."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import HttpRequest

from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Access, Permission, Scope
from apps.core.pauses import PERSON

if TYPE_CHECKING:
    from apps.people.selectors import Look


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
