"""The only way to rows that have a scope, for every app that keeps some (DESIGN D1)."""

from typing import Self, TypeVar

from django.db import models

from apps.core.domain.scope import Access, Scope

M = TypeVar("M", bound=models.Model)


class ScopedQuerySet(models.QuerySet[M]):
    """Filters over rows with the fields of a scope; start every read with `visible_to`."""

    def visible_to(self, access: Access, asked: Scope | None = None) -> Self:
        """Return the rows inside the bound of the caller that match every identifier asked for."""
        scope = access.for_read(asked or Scope())
        return self.none() if scope is None else self.in_scope(scope)

    def in_scope(self, scope: Scope) -> Self:
        """Return the rows that match every identifier that the scope names."""
        return self.filter(**scope.named())

    @staticmethod
    def visible_sql(access: Access) -> tuple[str, dict[str, str]]:
        """Return `visible_to` for statements that are written out: a condition and its named parameters."""
        bound = access.bound.named()
        return " AND ".join(["TRUE", *(f"{name} = %({name})s" for name in bound)]), bound

    def newest_first(self) -> Self:
        """Return the rows in the order of lists; ids rise with arrival and are unique, so a cursor can name one."""
        return self.order_by("-id")
