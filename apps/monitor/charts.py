"""The samples of series over a span of time, as charts draw them."""

from collections.abc import Sequence
from datetime import datetime

from django.db import connection

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.monitor.domain.buckets import HOUR, MINUTE, plan_buckets
from apps.monitor.domain.series import SeriesKind
from apps.monitor.samples import MINUTES_KEPT, all_series

Points = list[tuple[datetime, float | None]]

# Both kinds of samples: the index leads with the series and the kind.
_READ = """
SELECT series, floor(extract(epoch FROM at) / %(width)s)::bigint,
       CASE WHEN series = ANY(%(counters)s) THEN sum(value) ELSE avg(value) END
FROM monitor_sample
WHERE series = ANY(%(names)s) AND is_hourly = ANY(ARRAY[true, false]) AND at >= %(start)s AND at < %(end)s
GROUP BY 1, 2
"""


def series_read(
    names: Sequence[str], start: datetime, end: datetime, points: int, *, clock: Clock = SYSTEM_CLOCK
) -> dict[str, Points]:
    """Return at most `points` values of each series up to `end`, by name; each with the beginning of its bucket.

    The value of a bucket is the mean of its samples, of a counter their sum. A bucket without samples has None, and so
    has one of a counter that is not over yet. What is older than 48 hours has buckets of an hour at least. A series
    that does not exist has only gaps. Raises ValueError for a span or a number of points that is not positive.
    """
    now = utcnow(clock)
    finest = HOUR if start < now - MINUTES_KEPT else MINUTE
    buckets = plan_buckets(start, end, points, finest)
    counters = {each.name for each in all_series() if each.kind is SeriesKind.COUNTER}
    found: dict[str, dict[int, float]] = {name: {} for name in names}
    with connection.cursor() as cursor:
        cursor.execute(
            _READ,
            {
                "width": buckets.width,
                "counters": sorted(counters),
                "names": list(found),
                "start": buckets.start,
                "end": buckets.end,
            },
        )
        for name, number, value in cursor.fetchall():
            found[name][number] = value
    is_fine = buckets.width == MINUTE
    return {
        name: buckets.fill(values, None if is_fine or name not in counters else now) for name, values in found.items()
    }
