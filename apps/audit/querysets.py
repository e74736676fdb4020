"""Filters over entries of the audit."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Self

from django.db.models import Q

from apps.core.db.scoped import ScopedQuerySet

if TYPE_CHECKING:
    from apps.audit.models import AuditEntry  # noqa: F401


class AuditQuerySet(ScopedQuerySet["AuditEntry"]):
    """Filters over entries, the newest first."""

    def latest_first(self) -> Self:
        """Return the entries by time; ids decide between those of one moment."""
        return self.order_by("-at", "-pk")

    def older_than(self, at: datetime, pk: int) -> Self:
        """Return what comes after an entry in the list."""
        return self.filter(Q(at__lt=at) | Q(at=at, pk__lt=pk))

    def newer_than(self, at: datetime, pk: int) -> Self:
        """Return what comes before an entry in the list."""
        return self.filter(Q(at__gt=at) | Q(at=at, pk__gt=pk))

    def mentioning(self, words: str) -> Self:
        """Return the entries in whose actor, act or object a text occurs, in any case."""
        return self.filter(
            Q(actor__icontains=words)
            | Q(action__icontains=words)
            | Q(object_type__icontains=words)
            | Q(object_id__icontains=words)
            | Q(request_id=words)
        )
