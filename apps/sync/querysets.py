"""Filters over sources, their files and items, and their syncs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models

from apps.core.db.scoped import ScopedQuerySet

if TYPE_CHECKING:
    from apps.core.domain.scope import Access
    from apps.sync.models import KnowledgeFile, KnowledgeItem, KnowledgeSource, PointerConflict, SyncRun  # noqa: F401


class SourceQuerySet(ScopedQuerySet["KnowledgeSource"]):
    """Sources. They belong to an owner as a whole, so they have a user and no further scope."""

    def readable_by(self, access: Access) -> Self:
        """Return those whose items a caller may read: of its bound, and of owners that it was granted."""
        reach = access.readable
        return self.in_reach(reach)


class KnowledgeFileQuerySet(models.QuerySet["KnowledgeFile"]):
    """Files."""

    def refused(self) -> Self:
        """Return those that became no item."""
        return self.exclude(code="")


class KnowledgeItemQuerySet(models.QuerySet["KnowledgeItem"]):
    """Items."""


class RunQuerySet(models.QuerySet["SyncRun"]):
    """Runs."""

    def newest_first(self) -> Self:
        """Return them, the newest first."""
        return self.order_by("-id")


class ConflictQuerySet(models.QuerySet["PointerConflict"]):
    """Conflicts."""

    def open(self) -> Self:
        """Return those that wait for a person."""
        return self.filter(state="open")
