"""What was recorded lately, in numbers, for an operator's overview."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from django.db.models import Count, Q
from django.db.models.functions import TruncDate
from django.utils.timezone import localdate, make_aware

from apps.episodic.domain.segment_state import RowsState, SegmentState
from apps.episodic.models import Segment, TimelineEvent

_UNCOUNTED = frozenset({SegmentState.OPEN, SegmentState.SEALING})


@dataclass(frozen=True)
class RecordedDays:
    """by_day: day -> events recorded on it, the oldest first, today last; those that were deleted since count, too.

    is_rough: some segments that were open over midnight are files already, and count for the day that closed them.
    """

    by_day: Mapping[date, int]
    is_rough: bool

    @property
    def total(self) -> int:
        return sum(self.by_day.values())


def recorded_by_day(now: datetime, days: int = 7) -> RecordedDays:
    """The events recorded on each of the last `days` days.

    Takes the catalogue's word for segments that were open on one day only, and counts the rows of the others: about one
    segment for each midnight, however many events there are.
    """
    today = localdate(now)
    wanted = [today - timedelta(days=back) for back in reversed(range(days))]
    start = make_aware(datetime.combine(wanted[0], time.min))
    # What was merged or rewritten holds nothing new: the segments in which it was recorded tell of it.
    recorded_in = Segment.objects.filter(Q(closed_at=None) | Q(closed_at__gte=start), replaces=None)
    found, is_rough = Counter[date](), False
    by_rows: list[int] = []
    for segment in recorded_in:
        if _is_counted_by_rows(segment):
            by_rows.append(segment.pk)
        else:
            found[_last_day(segment)] += segment.event_count
            is_rough |= _is_over_midnight(segment)
    found.update(_rows_by_day(by_rows, start))
    return RecordedDays({day: found[day] for day in wanted}, is_rough)


def _is_counted_by_rows(segment: Segment) -> bool:
    if segment.state in _UNCOUNTED:
        return True
    return _is_over_midnight(segment) and segment.rows == RowsState.COMPLETE


def _is_over_midnight(segment: Segment) -> bool:
    return localdate(segment.opened_at) != _last_day(segment)


def _last_day(segment: Segment) -> date:
    return localdate(segment.closed_at or segment.opened_at)


def _rows_by_day(segments: list[int], start: datetime) -> dict[date, int]:
    rows = TimelineEvent.objects.filter(segment__in=segments, recorded_at__gte=start).order_by()
    return dict(rows.annotate(day=TruncDate("recorded_at")).values_list("day").annotate(Count("id")))
