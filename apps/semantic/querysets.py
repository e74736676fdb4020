"""Composable filters over memories and over the receipts of decisions about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, TypeVar

from django.db import models

from apps.core.domain.scope import Access, Scope

if TYPE_CHECKING:
    from datetime import datetime

    from apps.semantic.models import Conflict, Ingestion, Memory  # noqa: F401

M = TypeVar("M", bound=models.Model)


class ScopedQuerySet(models.QuerySet[M]):
    """The only door to rows with a scope: start every read with `visible_to`."""

    def visible_to(self, access: Access, asked: Scope | None = None) -> Self:
        """The rows inside the caller's bound that match every identifier asked for (DESIGN D1)."""
        scope = access.for_read(asked or Scope())
        return self.none() if scope is None else self.in_scope(scope)

    def in_scope(self, scope: Scope) -> Self:
        """The rows that match every identifier that the scope names."""
        return self.filter(**scope.named())

    @staticmethod
    def visible_sql(access: Access) -> tuple[str, dict[str, str]]:
        """The same as `visible_to` for statements that are written out: a condition and its named parameters."""
        bound = access.bound.named()
        return " AND ".join(["TRUE", *(f"{name} = %({name})s" for name in bound)]), bound

    def newest_first(self) -> Self:
        """In the order of lists; ids rise with arrival and are unique, so a cursor can stand on them."""
        return self.order_by("-id")


class MemoryQuerySet(ScopedQuerySet["Memory"]):
    """Memories."""

    def active(self) -> Self:
        """Those that a search may find."""
        return self.filter(status="active")

    def duplicates_of(self, memory: Memory) -> Self:
        """Those of the same scope and content, by which exact duplicates are known."""
        return self.filter(
            user_id=memory.user_id,
            household_id=memory.household_id,
            persona_id=memory.persona_id,
            content_hash=memory.content_hash,
        )


class ConflictQuerySet(ScopedQuerySet["Conflict"]):
    """Receipts."""

    def in_force(self) -> Self:
        """Those that still say how things stand."""
        return self.filter(state__in=("open", "accepted"))


class IngestionQuerySet(ScopedQuerySet["Ingestion"]):
    """Events on their way to becoming memories, and those that have become some."""

    def pending(self) -> Self:
        """Those that wait to be saved."""
        return self.filter(status="pending")

    def due(self, now: datetime) -> Self:
        """Those that may be tried now."""
        return self.pending().filter(next_try_at__lte=now)

    def affected_by_pruning(self) -> Self:
        """Those that something is to be done about when their event is pruned."""
        return self.filter(status__in=("pending", "failed", "linked"))

    def unlinking(self) -> Self:
        """Those whose event is gone, and whose memory is to be looked at now.

        One whose event stays under another id waits for that to be linked: without it the memory would be demoted.
        """
        waiting = self.model._default_manager.filter(status="pending", user_id=models.OuterRef("user_id"))
        repaired = models.Q(pruned_reason="repair")
        return self.filter(status="unlinking").filter(~repaired | ~models.Exists(waiting))

    def exactly_in(self, scope: Scope) -> Self:
        """Those of a scope in which what is not named does not exist."""
        return self.filter(
            user_id=scope.user_id or "", household_id=scope.household_id or "", persona_id=scope.persona_id or ""
        )
