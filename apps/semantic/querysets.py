"""Composable filters over memories and over the receipts of decisions about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models import Q

from apps.core.db.scoped import ScopedQuerySet, scope_filter
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Reach, Scope
from apps.semantic.domain.duplicates import DuplicateKey

if TYPE_CHECKING:
    from datetime import datetime

    from apps.semantic.models import BridgeAudit, Conflict, Ingestion, Memory  # noqa: F401


class MemoryQuerySet(ScopedQuerySet["Memory"]):
    """Memories."""

    def in_reach(self, reach: Reach) -> Self:
        """Return the memories that a read covers: of further owners none that is deleted or has expired.

        Their ids are unknown to whom the owner was granted, so no list, filter or cursor says more of them.
        """
        if not reach.owners:
            return super().in_reach(reach)
        not_expired = Q(expires_at__isnull=True) | Q(expires_at__gt=utcnow(SYSTEM_CLOCK))
        granted = Q(user_id__in=reach.owners) & ~Q(status="deleted") & not_expired
        return self.filter(granted if reach.scope is None else scope_filter(reach.scope) | granted)

    def active(self) -> Self:
        """Return those that a search may find."""
        return self.filter(status="active")

    def unmanaged(self) -> Self:
        """Return those that are changed here: duplicates and conflicts are looked for among these only."""
        return self.filter(managed_by="")

    def unexpired(self, now: datetime) -> Self:
        """Return those that have not expired by a moment."""
        return self.filter(models.Q(expires_at__isnull=True) | models.Q(expires_at__gt=now))

    def of_session(self, session: str) -> Self:
        """Return those of a session, or that were said in it as well."""
        return self.filter(models.Q(session_id=session) | models.Q(further_sessions__contains=[session]))

    def with_key(self, key: DuplicateKey, occurred_at: datetime | None) -> Self:
        """Return those of a scope, tags, content and moment; of which one is active at most. None is managed."""
        return self.unmanaged().filter(**key._asdict(), occurred_at=occurred_at)


class ConflictQuerySet(ScopedQuerySet["Conflict"]):
    """Receipts."""

    def in_force(self) -> Self:
        """Return those that are open or accepted."""
        return self.filter(state__in=("open", "accepted"))

    def open_notices_of(self, memory: Memory) -> Self:
        """Return those that wait for a decision about a memory and another one."""
        return self.filter(Q(candidate=memory) | Q(existing=memory), outcome="noticed", state="open")


class IngestionQuerySet(ScopedQuerySet["Ingestion"]):
    """Events on their way to becoming memories, and those that have become some."""

    def pending(self) -> Self:
        """Return those that wait to be saved."""
        return self.filter(status="pending")

    def due(self, now: datetime) -> Self:
        """Return those that may be tried now."""
        return self.pending().filter(next_try_at__lte=now)

    def affected_by_pruning(self) -> Self:
        """Return those that have to be reconciled when their event is pruned."""
        return self.filter(status__in=("pending", "failed", "linked"))

    def unlinking(self) -> Self:
        """Return those whose event is gone, and whose memory has to be reconciled now.

        One whose event is kept under another id waits for that to be linked: without it the memory would be demoted.
        """
        waiting = self.model._default_manager.filter(status="pending", user_id=models.OuterRef("user_id"))
        repaired = models.Q(pruned_reason="repair")
        return self.filter(status="unlinking").filter(~repaired | ~models.Exists(waiting))

    def exactly_in(self, scope: Scope) -> Self:
        """Return those of a scope in which what is not named does not exist."""
        return self.filter(
            user_id=scope.user_id or "", household_id=scope.household_id or "", persona_id=scope.persona_id or ""
        )


class AuditQuerySet(ScopedQuerySet["BridgeAudit"]):
    """Filters over the audit records of the bridge."""
