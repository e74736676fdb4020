"""Composable filters over memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models.functions import Coalesce

from apps.core.domain.scope import Access, Scope

if TYPE_CHECKING:
    from datetime import datetime

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

    def not_deleted(self) -> Self:
        """Those that can be read by their id."""
        return self.exclude(status="deleted")

    def happened_between(self, start: datetime | None, end: datetime | None) -> Self:
        """Those that happened (else were saved) from `start` to `end`, both included."""
        moment = self.alias(moment=Coalesce("occurred_at", "created_at"))
        if start is not None:
            moment = moment.filter(moment__gte=start)
        return moment if end is None else moment.filter(moment__lte=end)

    def newest_first(self) -> Self:
        """In the order of lists; ids rise with arrival and are unique, so a cursor can stand on them."""
        return self.order_by("-id")
