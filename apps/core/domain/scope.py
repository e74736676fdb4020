"""Scopes, and what the holder of a key may access (DESIGN D1, D14)."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from apps.core.domain.errors import ForbiddenError, InvalidInputError
from apps.core.domain.origin import LOWER_ORIGIN, WriteOrigin

IDENTIFIERS = ("user_id", "household_id", "persona_id")
MAX_IDENTIFIER_CHARS = 200
# How many owners a key may be granted, and a search may include.
MAX_OWNERS = 50
# The same whether there is such a household or persona or not.
NOT_YOURS = "This key may not write for another {name}."


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

    def ends(self) -> dict[str, str]:
        """Return the household and the persona, as far as they are named."""
        return {name: value for name, value in self.named().items() if name != "user_id"}

    def ties(self) -> "list[Scope]":
        """Return the user with the household, and the user with the persona, as far as they are named."""
        ties = (Scope(self.user_id, self.household_id), Scope(self.user_id, persona_id=self.persona_id))
        return [tie for tie in ties if tie.ends()]

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

    foreign: users with a household or persona that they do not belong to, in which something of theirs is all the same
    (`core.db.memberships`). A read of that household or persona has nothing of them, as if it did not exist; where the
    bound names it, they are in `bound.without` as well.

    makes_ties: what it writes says who belongs to a household or persona: so do operators and keys that are bound to no
    user, and never the hub's own work in the background.

    reads: owners that were granted besides. `bound` alone decides about everything but reads of single memories and
    events (`readable`), and searches and lists of them that name the owner (`reach`). origin: of what it
    writes. vouches: the highest that it may name for what it passes on, None for its own.
    """

    bound: Scope
    permission: Permission
    actor: str
    reads: tuple[str, ...] = ()
    foreign: tuple[Scope, ...] = ()
    makes_ties: bool = False
    origin: WriteOrigin = WriteOrigin.APP
    vouches: WriteOrigin | None = None

    def __post_init__(self) -> None:
        """Leave outsiders out of the bound, so that no read by it alone can forget them."""
        if outsiders := self.outsiders_of(self.bound):
            without = tuple(sorted({*self.bound.without, *outsiders}))
            object.__setattr__(self, "bound", replace(self.bound, without=without))

    def outsiders_of(self, scope: Scope) -> set[str]:
        """Return the users who do not belong to the household or persona of a scope, though something of theirs is."""
        if not self.foreign:
            return set()
        ends = {(end.household_id, end.persona_id) for end in scope.ties()}
        return {str(tie.user_id) for tie in self.foreign if (tie.household_id, tie.persona_id) in ends}

    def allows(self, needed: Permission) -> bool:
        """Return whether the caller's permission includes `needed`."""
        return PERMISSION_ORDER.index(self.permission) >= PERMISSION_ORDER.index(needed)

    def write_origin(self, asked: WriteOrigin | None) -> WriteOrigin:
        """Return the origin of a write: the caller's own, or a lower one that it names (DESIGN D20).

        Raises ForbiddenError for a higher one.
        """
        if asked is not None and (self.vouches or self.origin).is_below(asked):
            detail = f"This key writes as {self.origin}: it may name that origin or a lower one."
            raise ForbiddenError(detail, attr="origin")
        return asked or self.origin

    def may_change(self, origin: WriteOrigin) -> bool:
        """Return whether the caller may change what has this origin: if it is not above its own, or as an operator."""
        return self.allows(Permission.OPERATOR) or not self.origin.is_below(origin)

    def require_origin(self, origin: WriteOrigin) -> None:
        """Raise ForbiddenError where the caller may not change what has this origin."""
        if not self.may_change(origin):
            detail = f"This key writes as {self.origin}, and changes nothing that comes from {origin}."
            raise ForbiddenError(detail, attr="origin", code=LOWER_ORIGIN)

    def refuse_stopped(self, user_id: str | None = None) -> None:
        """Raise AccessStoppedError where this user, or the one whom the caller is bound to, has stopped it."""
        if not self.bound.without:
            return
        stopped = set(self.bound.without) - self.outsiders_of(self.bound)
        if not stopped.isdisjoint({user_id, self.bound.user_id}):
            raise AccessStoppedError

    def for_read(self, asked: Scope) -> Scope | None:
        """Return the scope to read in; None when it is outside the bound, so that nothing is visible.

        Raises AccessStoppedError for a user who has stopped the caller.
        """
        self.refuse_stopped(asked.user_id)
        scope = asked.intersect(self.bound)
        if scope is None or not (outsiders := self.outsiders_of(scope)):
            return scope
        return scope.intersect(Scope(without=tuple(sorted(outsiders))))

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

    def for_removal(self, asked: Scope, default_user: str | None = None) -> Scope:
        """Return the scope of a user's rows that are removed: one inside the bound.

        Raises ForbiddenError for an identifier outside the bound and for a user who has stopped the caller, and
        InvalidInputError when neither the caller, nor its key, nor the configuration says whose row it is.
        """
        self.refuse_stopped(asked.user_id)
        bound = self.bound.named()
        for name, mine in bound.items():
            value = getattr(asked, name)
            if value is not None and value != mine:
                raise ForbiddenError(NOT_YOURS.format(name=name), attr=name)
        user = next((one for one in (asked.user_id, self.bound.user_id, default_user) if one is not None), None)
        if user is None:
            raise InvalidInputError("Name the user whose memory it is.", attr="user_id", code="required")
        self.refuse_stopped(user)
        named = {**asked.named(), **bound}
        return Scope(user, named.get("household_id"), named.get("persona_id"))

    def for_write(
        self, asked: Scope, default_user: str | None = None, *, is_tied: Callable[[Scope], bool] = lambda _: False
    ) -> Scope:
        """Return the scope of a new row (DESIGN D1, D24).

        is_tied: whether a user belongs to a household or persona, as far as the hub knows; `core.db.memberships` asks
        the database. A caller without a bound needs no tie, and what a bound names itself needs none but where it was
        ended: whoever gave the bound said so. One that is bound to a household or persona alone, and so names any user,
        names no other: by the ties of a user of its choice it would reach strangers.

        Raises what `for_removal` raises, and ForbiddenError for a household or persona that the user does not belong
        to, whether there is one or not.
        """
        scope, bound = self.for_removal(asked, default_user), self.bound
        if not bound.named():
            return scope
        for tie in scope.ties():
            is_bound_so = bound.ends().items() >= tie.ends().items() and not (bound.user_id and tie in self.foreign)
            if not is_bound_so and not (bound.user_id and is_tied(tie)):
                [name] = tie.ends()
                raise ForbiddenError(NOT_YOURS.format(name=name), attr=name)
        return scope

    def claims(self, scope: Scope) -> list[Scope]:
        """Return the ties that a row of this scope makes, since the caller may say who belongs there."""
        if not self.makes_ties or self.bound.user_id is not None:
            return []
        bound = self.bound.ends()
        return [tie for tie in scope.ties() if not self.bound.named() or bound.items() >= tie.ends().items()]


def system_access(
    actor: str = "system",
    origin: WriteOrigin = WriteOrigin.APP,
    *,
    vouches: WriteOrigin | None = None,
    makes_ties: bool = False,
) -> Access:
    """Return the access of the hub itself: management commands, background tasks, the admin.

    makes_ties: it does what a person wants who may say who belongs where; origin, vouches: see `Access`.
    """
    return Access(Scope(), Permission.OPERATOR, actor, makes_ties=makes_ties, origin=origin, vouches=vouches)
