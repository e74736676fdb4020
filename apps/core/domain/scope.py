"""Scopes, and what the holder of a key may access (DESIGN D1, D14)."""

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from apps.core.domain.errors import ForbiddenError, InvalidInputError

IDENTIFIERS = ("user_id", "household_id", "persona_id")
MAX_IDENTIFIER_CHARS = 200
# How many owners a key may be granted, and a search may include.
MAX_OWNERS = 50


class IdentifierCount(NamedTuple):
    """What there is of a user, household or persona. people: None for a user."""

    people: int | None
    memories: int


class Permission(StrEnum):
    """What a key may do. Each level includes the ones before it."""

    READ = "read"
    WRITE = "write"
    OPERATOR = "operator"


PERMISSION_ORDER = tuple(Permission)


@dataclass(frozen=True)
class Scope:
    """Identifiers that a row must match; None matches every value.

    As the scope of a row (see `for_write`), `user_id` is set and None means that the row has none.
    without: users of whom no row matches: those who stopped the access of a key (decision 61), sorted.
    """

    user_id: str | None = None
    household_id: str | None = None
    persona_id: str | None = None
    without: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def is_everything(self) -> bool:
        """Return whether every row of the hub matches."""
        return not self.without and not self.named()

    def intersect(self, other: "Scope") -> "Scope | None":
        """Return the scope of the rows that match both; None when no row can."""
        merged: dict[str, str | None] = {}
        for name in IDENTIFIERS:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine is not None and theirs is not None and mine != theirs:
                return None
            merged[name] = mine if mine is not None else theirs
        without, user = {*self.without, *other.without}, merged["user_id"]
        if user in without:
            return None
        # Where one user is named, the others need not be left out.
        left_out = tuple(sorted(without)) if user is None else ()
        return Scope(user, merged["household_id"], merged["persona_id"], without=left_out)

    def named(self) -> dict[str, str]:
        """Return the identifiers that are set."""
        return {name: value for name in IDENTIFIERS if (value := getattr(self, name)) is not None}

    def contains(self, other: "Scope") -> bool:
        """Return whether every row of another scope is a row of this one."""
        return self.intersect(other) == other


@dataclass(frozen=True)
class Reach:
    """Rows that a read covers: those of a scope, unless it is None, and all rows of further owners.

    owners: ids of users or teams, sorted, none of which the scope contains already.
    """

    scope: Scope | None
    owners: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether it covers nothing."""
        return self.scope is None and not self.owners


class AccessStoppedError(ForbiddenError):
    """The person whom a request is about has stopped the access of this key."""

    code = "access_stopped"

    def __init__(self) -> None:
        super().__init__("This user has stopped the access of this key to what is theirs.", attr="user_id")


@dataclass(frozen=True)
class Access:
    """What one caller may do: the bound of its key, its permission, and its name for the records.

    Users who stopped it are in `bound.without`: a read of several people has nothing of them, and what names one of
    them raises AccessStoppedError.

    reads: owners that were granted besides. `bound` alone decides about everything but reads of single memories and
    events (`readable`), and searches and lists of them that name the owner (`reach`).
    """

    bound: Scope
    permission: Permission
    actor: str
    reads: tuple[str, ...] = ()

    def allows(self, needed: Permission) -> bool:
        """Return whether the caller's permission includes `needed`."""
        return PERMISSION_ORDER.index(self.permission) >= PERMISSION_ORDER.index(needed)

    def refuse_stopped(self, user_id: str | None = None) -> None:
        """Raise AccessStoppedError where this user, or the one whom the caller is bound to, has stopped it."""
        if self.bound.without and not {user_id, self.bound.user_id}.isdisjoint(self.bound.without):
            raise AccessStoppedError

    def for_read(self, asked: Scope) -> Scope | None:
        """Return the scope to read in; None when it is outside the bound, so that nothing is visible.

        Raises AccessStoppedError for a user who has stopped the caller.
        """
        self.refuse_stopped(asked.user_id)
        return asked.intersect(self.bound)

    def reach(self, asked: Scope, include: Collection[str] = ()) -> Reach:
        """Return what a read covers: the scope asked for inside the bound, and those owners that the caller may read.

        include: any names; what was not granted is left out, as what does not exist would be.
        """
        scope = self.for_read(asked)
        if not include:
            return Reach(scope)
        known = (owner for owner in set(include) if owner in self.reads or self.bound.contains(Scope(owner)))
        granted = (owner for owner in known if owner not in self.bound.without)
        further = (owner for owner in granted if scope is None or not scope.contains(Scope(owner)))
        return Reach(scope, tuple(sorted(further)))

    @property
    def readable(self) -> Reach:
        """Return all that the caller may read where it has the id of a row."""
        return self.reach(Scope(), self.reads)

    def for_write(self, asked: Scope, default_user: str | None = None) -> Scope:
        """Return the scope of a new row (DESIGN D1).

        Raises ForbiddenError for an identifier outside the bound and for a user who has stopped the caller, and
        InvalidInputError when neither the caller, nor its key, nor the configuration says whose row it is.
        """
        self.refuse_stopped(asked.user_id)
        for name, bound in self.bound.named().items():
            value = getattr(asked, name)
            if value is not None and value != bound:
                raise ForbiddenError(f"This key may not write for another {name}.", attr=name)
        scope = asked.intersect(self.bound) or asked
        if scope.user_id is not None:
            return scope
        if default_user is None:
            raise InvalidInputError("Say whose memory it is.", attr="user_id", code="required")
        self.refuse_stopped(default_user)
        return Scope(default_user, scope.household_id, scope.persona_id)


def system_access(actor: str = "system") -> Access:
    """Return the access of the hub itself: management commands, background tasks, the admin."""
    return Access(Scope(), Permission.OPERATOR, actor)
