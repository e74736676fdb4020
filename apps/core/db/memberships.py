"""Who belongs to a household or persona: what a new row may name, and the ties that it makes (DESIGN D24).

A tie is a user with one household, or with one persona. An operator makes it, a key without a bound or one that is
bound to the household, or an invitation. What a key that is bound to a user writes needs one, so that an application
of one person reaches no one else.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from django.db import connection

from apps.core.db.prepared import read_prepared
from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import IDENTIFIERS, Access, Scope
from apps.core.models import DisplayName, Membership, MembershipState

IMPORT_ACTOR = "import"
_IS_TIED = (
    "SELECT 1 FROM core_membership WHERE user_id = %(user_id)s AND household_id = %(household_id)s "
    "AND persona_id = %(persona_id)s AND state = 'member'"
)
# What is said already is neither written nor locked again. In one order, so that no two writers wait for each other.
_MAKE = """
INSERT INTO core_membership (uuid, user_id, household_id, persona_id, state, made_by, made_at)
SELECT gen_random_uuid(), said.user_id, said.household_id, said.persona_id, %(state)s, %(made_by)s, %(made_at)s
FROM unnest(%(users)s::text[], %(households)s::text[], %(personas)s::text[])
    AS said (user_id, household_id, persona_id)
WHERE NOT EXISTS (
    SELECT 1 FROM core_membership AS known
    WHERE known.user_id = said.user_id AND known.household_id = said.household_id
      AND known.persona_id = said.persona_id AND (known.state = 'member' OR NOT %(accepts)s)
)
ORDER BY said.user_id, said.household_id, said.persona_id
ON CONFLICT (user_id, household_id, persona_id)
    DO UPDATE SET state = 'member', made_by = excluded.made_by, made_at = excluded.made_at
    WHERE core_membership.state = 'foreign' AND %(accepts)s
"""


class WriteScopes:
    """The scopes of the new rows of one call; each tie is looked up once.

    claims: the ties that the rows make, for `ties_make` in the transaction that writes them.
    """

    def __init__(self, access: Access, default_user: str | None = None) -> None:
        self._access, self._default_user = access, default_user
        self._known: dict[Scope, bool] = {}
        self.claims: set[Scope] = set()

    def settle(self, asked: Scope) -> Scope:
        """Return the scope of a new row. Raises as `Access.for_write`."""
        scope = self._access.for_write(asked, self._default_user, is_tied=self._is_tied)
        self.claims.update(self._access.claims(scope))
        return scope

    def _is_tied(self, tie: Scope) -> bool:
        if tie not in self._known:
            self._known[tie] = is_member(tie)
        return self._known[tie]


def is_member(tie: Scope) -> bool:
    """Return whether a user belongs to a household or persona."""
    return bool(read_prepared(_IS_TIED, tie_columns(tie)))


def tie_columns(tie: Scope) -> dict[str, str]:
    """Return a tie as the values of its columns."""
    return {name: getattr(tie, name) or "" for name in IDENTIFIERS}


def ties_make(
    ties: Collection[Scope],
    *,
    made_by: str,
    made_at: datetime,
    accepts: bool = True,
    state: MembershipState = MembershipState.MEMBER,
) -> None:
    """Let users belong to households and personas, in the caller's transaction; safe to repeat.

    accepts: also where their writes were foreign, which are found from then on. state: of ties of which nothing is
    known. The caller holds the users (`user_locks`).
    """
    if not ties:
        return
    parameters: dict[str, Any] = {
        "made_by": made_by[:200],
        "made_at": made_at,
        "accepts": accepts,
        "state": state.value,
        "users": [tie.user_id for tie in ties],
        "households": [tie.household_id or "" for tie in ties],
        "personas": [tie.persona_id or "" for tie in ties],
    }
    with connection.cursor() as cursor:
        cursor.execute(_MAKE, parameters)


def ties_of_import(scopes: Iterable[Scope]) -> None:
    """Let users belong where an export has something of them, unless the hub or the export knows better.

    For the lines of exports that do not say who belongs where; in the caller's transaction, which holds the users.
    """
    ties = {tie for scope in scopes for tie in scope.ties()}
    ties_make(ties, made_by=IMPORT_ACTOR, made_at=utcnow(SYSTEM_CLOCK), accepts=False)


def scope_ties_make(scope: Scope, *, made_by: str, made_at: datetime) -> None:
    """Let the user of a key or account belong to what it is bound to besides, in the caller's transaction.

    Raises UserLockedError.
    """
    if scope.user_id is not None and (ties := scope.ties()):
        hold_users([scope.user_id])
        ties_make(ties, made_by=made_by, made_at=made_at)


def names_of_member(user_id: str, name: str) -> set[str]:
    """Return the households, or the personas, that a user belongs to. name: of the identifier."""
    rows = Membership.objects.filter(user_id=user_id, state=MembershipState.MEMBER).exclude(**{name: ""})
    return set(rows.values_list(name, flat=True))


def display_names(kind: str, ids: Iterable[str]) -> dict[str, str]:
    """Return how pages call households or personas, by id: the name that an operator gave with the id, or the id.

    kind: `household_id` or `persona_id`.
    """
    said = {one: one for one in ids if one}
    found = DisplayName.objects.filter(**{f"{kind}__in": said}).values_list(kind, "name") if said else ()
    return said | {one: named(one, name) for one, name in found}


def named(one: str, name: str | None) -> str:
    """Return how pages call a household or a persona: by the name that an operator gave, if any, and its id."""
    return f"{name} ({one})" if name else one


def members_of(households: Iterable[str]) -> dict[str, set[str]]:
    """Return the users who belong to each of these households."""
    members: dict[str, set[str]] = {household: set() for household in households}
    rows = Membership.objects.filter(household_id__in=members, state=MembershipState.MEMBER)
    for household, user in rows.values_list("household_id", "user_id"):
        members[household].add(user)
    return members
