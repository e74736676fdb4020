"""The only way to rows that have a scope, for every app that keeps some (DESIGN D1)."""

from collections.abc import Collection
from typing import Any, Self, TypeVar

from django.db import models
from django.db.models import Q

from apps.core.domain.scope import Access, Reach, Scope

M = TypeVar("M", bound=models.Model)


class ScopedQuerySet(models.QuerySet[M]):
    """Filters over rows with the fields of a scope; start every read with `visible_to`.

    `readable_by` and `include` are for content alone, which may be granted: not for writes, figures, lists of names,
    receipts and history (DESIGN D14).
    """

    def visible_to(self, access: Access, asked: Scope | None = None, include: Collection[str] = ()) -> Self:
        """Return the rows inside the bound of the caller that match every identifier asked for.

        include: owners of whom all rows are returned besides, if the caller was granted them.
        """
        return self.in_reach(access.reach(asked or Scope(), include))

    def readable_by(self, access: Access) -> Self:
        """Return the rows inside the bound of the caller, and those of owners that it was granted."""
        return self.in_reach(access.readable)

    def in_reach(self, reach: Reach) -> Self:
        """Return the rows that a read covers."""
        scope = reach.scope
        if scope is None:
            return self.filter(user_id__in=reach.owners) if reach.owners else self.none()
        if not reach.owners or scope.is_everything:
            return self.in_scope(scope)
        return self.filter(scope_filter(scope) | Q(user_id__in=reach.owners))

    def in_scope(self, scope: Scope) -> Self:
        """Return the rows that a scope matches."""
        return self.filter(scope_filter(scope))

    @staticmethod
    def visible_sql(access: Access, include: Collection[str] = ()) -> tuple[str, dict[str, Any]]:
        """Return `visible_to` for statements that are written out: a condition and its named parameters."""
        return reach_sql(access.reach(Scope(), include)) if include else scope_sql(access.bound)

    def newest_first(self) -> Self:
        """Return the rows in the order of lists; ids rise with arrival and are unique, so a cursor can name one."""
        return self.order_by("-id")


def scope_filter(scope: Scope, before: str = "") -> Q:
    """Return `in_scope` as a condition. before: of the names of columns, for those of a related row."""
    matching = Q(**{f"{before}{name}": value for name, value in scope.named().items()})
    return matching & ~Q(**{f"{before}user_id__in": scope.without}) if scope.without else matching


def scope_sql(scope: Scope, table: str = "") -> tuple[str, dict[str, Any]]:
    """Return `in_scope` as a condition and its named parameters. table: the name before each column, with its dot."""
    named = scope.named()
    conditions = ["TRUE", *(f"{table}{name} = %({name})s" for name in named)]
    if not scope.without:
        return " AND ".join(conditions), named
    return " AND ".join([*conditions, f"{table}user_id <> ALL (%(without)s::text[])"]), {
        **named,
        "without": list(scope.without),
    }


def reach_sql(reach: Reach, table: str = "") -> tuple[str, dict[str, Any]]:
    """Return `in_reach` as a condition and its named parameters. table: see `scope_sql`."""
    own, parameters = ("FALSE", {}) if reach.scope is None else scope_sql(reach.scope, table)
    if not reach.owners:
        return own, parameters
    return f"({own} OR {table}user_id = ANY (%(owners)s::text[]))", {**parameters, "owners": list(reach.owners)}
