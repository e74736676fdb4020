"""Scopes, and what the holder of a key may access (DESIGN D1)."""

from dataclasses import dataclass
from enum import StrEnum

from apps.core.domain.errors import ForbiddenError, InvalidInputError

IDENTIFIERS = ("user_id", "household_id", "persona_id")
MAX_IDENTIFIER_CHARS = 200


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
    """

    user_id: str | None = None
    household_id: str | None = None
    persona_id: str | None = None

    def intersect(self, other: "Scope") -> "Scope | None":
        """Return the scope of the rows that match both; None when no row can."""
        merged: dict[str, str | None] = {}
        for name in IDENTIFIERS:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine is not None and theirs is not None and mine != theirs:
                return None
            merged[name] = mine if mine is not None else theirs
        return Scope(**merged)

    def named(self) -> dict[str, str]:
        """Return the identifiers that are set."""
        return {name: value for name in IDENTIFIERS if (value := getattr(self, name)) is not None}


@dataclass(frozen=True)
class Access:
    """What one caller may do: the bound of its key, its permission, and its name for the records."""

    bound: Scope
    permission: Permission
    actor: str

    def allows(self, needed: Permission) -> bool:
        """Return whether the caller's permission includes `needed`."""
        return PERMISSION_ORDER.index(self.permission) >= PERMISSION_ORDER.index(needed)

    def for_read(self, asked: Scope) -> Scope | None:
        """Return the scope to read in; None when it is outside the bound, so that nothing is visible."""
        return asked.intersect(self.bound)

    def for_write(self, asked: Scope, default_user: str | None = None) -> Scope:
        """Return the scope of a new row (DESIGN D1).

        Raises ForbiddenError for an identifier outside the bound, and InvalidInputError when neither the
        caller, nor its key, nor the configuration says whose row it is.
        """
        for name, bound in self.bound.named().items():
            value = getattr(asked, name)
            if value is not None and value != bound:
                raise ForbiddenError(f"This key may not write for another {name}.", attr=name)
        scope = asked.intersect(self.bound) or asked
        if scope.user_id is not None:
            return scope
        if default_user is None:
            raise InvalidInputError("Say whose memory it is.", attr="user_id", code="required")
        return Scope(default_user, scope.household_id, scope.persona_id)


def system_access(actor: str = "system") -> Access:
    """Return the access of the hub itself: management commands, background tasks, the admin."""
    return Access(Scope(), Permission.OPERATOR, actor)
