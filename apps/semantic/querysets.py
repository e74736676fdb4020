"""Composable filters over memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models

from apps.core.domain.scope import Access, Scope

if TYPE_CHECKING:
    from apps.semantic.models import Memory  # noqa: F401


class MemoryQuerySet(models.QuerySet["Memory"]):
    """The only door to memories: start every read with `visible_to`."""

    def visible_to(self, access: Access, asked: Scope | None = None) -> Self:
        """The memories inside the caller's bound that match every identifier asked for (DESIGN D1)."""
        scope = access.for_read(asked or Scope())
        return self.none() if scope is None else self.in_scope(scope)

    def in_scope(self, scope: Scope) -> Self:
        """The memories that match every identifier that the scope names."""
        return self.filter(**scope.named())

    def active(self) -> Self:
        """Those that a search may find."""
        return self.filter(status="active")

    def newest_first(self) -> Self:
        """In the order of lists; ids rise with arrival and are unique, so a cursor can stand on them."""
        return self.order_by("-id")
