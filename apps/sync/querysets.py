"""Filters over sources, their files and items, and their syncs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self
from uuid import UUID

from django.db import models

from apps.core.db.scoped import ScopedQuerySet
from apps.core.domain.scope import Reach
from apps.sync.domain.readers.found import SKIPPED

if TYPE_CHECKING:
    from apps.sync.models import KnowledgeFile, KnowledgeItem, KnowledgeSource, PointerConflict, SyncRun  # noqa: F401


class SourceQuerySet(ScopedQuerySet["KnowledgeSource"]):
    """Sources. They belong to an owner as a whole, so they have a user and no further scope.

    A source with an id, and what is below it, is `readable_by` keys that were granted its owner; lists that name no
    source are `visible_to`, in which granted owners are included by name.
    """

    def in_reach(self, reach: Reach) -> Self:
        """Return the sources that a read covers. A scope of a household or a persona holds none."""
        scope = reach.scope
        if scope is not None and (scope.household_id is not None or scope.persona_id is not None):
            scope = None
        return super().in_reach(Reach(scope, reach.owners))

    def with_manager(self, manager: str) -> Self:
        """Return the source that keeps its pointers under this name, if it exists (see `KnowledgeSource.manager`)."""
        try:
            return self.filter(uuid=UUID(hex=manager.removeprefix("sync:")))
        except ValueError:
            return self.none()


class KnowledgeFileQuerySet(models.QuerySet["KnowledgeFile"]):
    """Files."""

    def refused(self) -> Self:
        """Return those that became no item."""
        return self.exclude(code="")

    def failed(self) -> Self:
        """Return those that could not be read as they are now; not those that were no items by intent."""
        return self.refused().exclude(code__in=SKIPPED)


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
