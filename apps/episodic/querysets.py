"""Filters of the timeline's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, QuerySet

from apps.core.domain.scope import Access, Scope
from apps.episodic.domain.segment_state import RowsState

if TYPE_CHECKING:
    from apps.episodic.models import TimelineEvent  # noqa: F401


class TimelineEventQuerySet(QuerySet["TimelineEvent"]):
    """Events that are rows."""

    def in_scope(self, scope: Scope) -> TimelineEventQuerySet:
        """Those that match every identifier that the scope names."""
        return self.filter(**scope.named())

    def visible_to(self, access: Access) -> TimelineEventQuerySet:
        """Those that a caller may know of."""
        return self.in_scope(access.bound)

    def readable(self) -> TimelineEventQuerySet:
        """Those of which no file has taken the place: the rows of a segment that are leaving are read no more."""
        from apps.episodic.models import Segment

        leaving = Segment.objects.filter(rows=RowsState.LEAVING, pk=OuterRef("segment"))
        return self.exclude(Exists(leaving))
