"""The person who looks at a page, and what they may do: what a key that is bound to their id may."""

from dataclasses import dataclass

from django.http import HttpRequest

from apps.core.domain.scope import Access, Permission, Scope
from apps.core.pauses import PERSON


@dataclass(frozen=True)
class Person:
    """Whose pages are shown. user_id: whose memories. name: as which they sign in."""

    user_id: str
    name: str

    @property
    def scope(self) -> Scope:
        """Return the scope of all that is theirs."""
        return Scope(self.user_id)

    @property
    def access(self) -> Access:
        """Return what they may do: read and write what is theirs, and nothing else."""
        return Access(self.scope, Permission.WRITE, f"{PERSON}{self.user_id}")


def person_of(request: HttpRequest) -> Person | None:
    """Return the person whom the signed-in account belongs to; None for an account that is no person's."""
    account = getattr(request.user, "account", None)
    if account is None or not account.person_id:
        return None
    return Person(account.person_id, request.user.get_username())
