"""Take a sample of each series every minute, thin the samples out as they grow old, and read them for charts."""

import logging
import math
import socket
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q
from django.utils.module_loading import import_string

from apps.core import metrics
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.monitor.domain.series import (
    HOUR,
    MINUTE,
    Histogram,
    MetricSet,
    Number,
    SampleContext,
    Series,
    SeriesKind,
    Total,
    increase,
    increases,
    plan_buckets,
    quantile,
)
from apps.monitor.models import CounterReading, Sample

logger = logging.getLogger(__name__)

MINUTES_KEPT = timedelta(hours=48)
HOURS_KEPT = timedelta(days=365)
READINGS_KEPT = timedelta(days=1)
# Samples and readings further ahead were taken by a clock that was wrong, and would be kept until their time has come.
FARTHEST = timedelta(days=1)
# An increase over a longer time is not that of a minute: the worker was stopped or busy, and there is a gap.
LONGEST_STEP = timedelta(seconds=150)
# A reading further ahead was taken by a clock that was wrong.
MAX_AHEAD = timedelta(minutes=2)
# Minutes and hours are joined and deleted so many hours or rows at a time.
HOURS_AT_ONCE = 24
ROWS_AT_ONCE = 50_000

_ROLL_UP = """
WITH old AS (
    DELETE FROM monitor_sample WHERE NOT is_hourly AND at < %(until)s RETURNING series, at, value
)
INSERT INTO monitor_sample AS kept (series, is_hourly, at, value)
SELECT series, true, date_trunc('hour', at, 'UTC'),
       CASE WHEN series = ANY(%(counters)s) THEN sum(value) ELSE avg(value) END
FROM old GROUP BY 1, 3
ON CONFLICT (series, is_hourly, at) DO UPDATE SET value =
    CASE WHEN kept.series = ANY(%(counters)s) THEN kept.value + excluded.value
         ELSE (kept.value + excluded.value) / 2 END
"""
_DELETE = """
DELETE FROM monitor_sample
WHERE id IN (SELECT id FROM monitor_sample WHERE is_hourly AND at < %s ORDER BY at LIMIT %s)
"""


def all_series() -> tuple[Series, ...]:
    """Return the series of settings.SERIES."""
    found: tuple[Series, ...] = import_string(settings.SERIES)
    return found


def sample_take(*, clock: Clock = SYSTEM_CLOCK) -> int:
    """Take a sample of each series for the current minute, unless there is one. Return how many numbers it has."""
    now, host = utcnow(clock), socket.gethostname()
    before = CounterReading.objects.filter(host=host).first()
    if before is not None and before.at > now + MAX_AHEAD:
        before = None  # its clock was wrong
    if before is not None and is_same_minute(before.at, now):
        return 0
    since = before.at if before is not None and now - before.at <= LONGEST_STEP else None
    context = SampleContext(MetricSet(metrics.collect_samples()), since, now)
    found = read_sources(all_series(), context)
    with transaction.atomic():
        reading, is_first = CounterReading.objects.select_for_update().get_or_create(host=host, defaults={"at": now})
        if not is_first and is_same_minute(reading.at, now):
            return 0
        totals = before.totals if before is not None and since is not None else {}
        values = {name: number_of(found[name], totals.get(name)) for name in found}
        minute = now.replace(second=0, microsecond=0)
        rows = [
            Sample(series=name, at=minute, value=value)
            for name, value in values.items()
            if value is not None and math.isfinite(value)
        ]
        # Of a worker on another machine there may be a sample already.
        Sample.objects.bulk_create(rows, ignore_conflicts=True)
        # What the next sample subtracts.
        kept: dict[str, float | list[float]] = {}
        for name, number in found.items():
            if isinstance(number, Total):
                kept[name] = number.value
            elif isinstance(number, Histogram):
                kept[name] = list(number.counts)
        CounterReading.objects.filter(host=host).update(at=now, totals=kept)
    return len(rows)


def is_same_minute(one: datetime, other: datetime) -> bool:
    """Return whether two moments are in the same minute, or the first one is slightly ahead."""
    return timedelta() <= one.replace(second=0, microsecond=0) - other.replace(second=0, microsecond=0) <= MAX_AHEAD


def read_sources(series: Iterable[Series], context: SampleContext) -> dict[str, Number]:
    """Return what the sources of series say, by name. One that fails leaves a gap."""
    names = {each.name for each in series}
    found: dict[str, Number] = {}
    for path in dict.fromkeys(each.path for each in series):
        try:
            numbers: Mapping[str, Number] = import_string(path)(context)
        except Exception as error:  # noqa: BLE001  (the other series are sampled, whatever made this one fail)
            logger.warning("no sample of %s: %s", path, type(error).__name__)
            continue
        found |= {name: number for name, number in numbers.items() if name in names}
    return found


def number_of(found: Number, before: Any) -> float | None:
    """Return the value of a sample. before: the stored total of the previous one, None where there is none."""
    if isinstance(found, Total):
        return increase(before, found.value) if isinstance(before, int | float) else None
    if isinstance(found, Histogram):
        if not isinstance(before, list):
            return None
        value = quantile(found.bounds, increases(before, found.counts), found.share)
        return None if value is None else value * found.scale
    return None if found is None else float(found)


def samples_roll_up(*, clock: Clock = SYSTEM_CLOCK) -> int:
    """Join samples older than 48 hours into one an hour, and delete those older than a year or a day ahead.

    Return how many samples were deleted. Each statement works on a day or on 50,000 rows.
    """
    now = utcnow(clock)
    full = (now - MINUTES_KEPT).replace(minute=0, second=0, microsecond=0)
    deleted = 0
    while (oldest := Sample.objects.filter(is_hourly=False, at__lt=full).order_by("at").first()) is not None:
        until = min(full, oldest.at.replace(minute=0) + timedelta(hours=HOURS_AT_ONCE))
        deleted += join_minutes(until)
    while count := delete_hours(now - HOURS_KEPT):
        deleted += count
    deleted += Sample.objects.filter(at__gt=now + FARTHEST).delete()[0]
    CounterReading.objects.filter(Q(at__lt=now - READINGS_KEPT) | Q(at__gt=now + FARTHEST)).delete()
    return deleted


@transaction.atomic
def join_minutes(until: datetime) -> int:
    """Replace the samples of minutes before a full hour by one an hour. Return how many there were."""
    counters = [each.name for each in all_series() if each.kind is SeriesKind.COUNTER]
    minutes = Sample.objects.filter(is_hourly=False, at__lt=until).count()
    with connection.cursor() as cursor:
        cursor.execute(_ROLL_UP, {"until": until, "counters": counters})
    return minutes


def delete_hours(until: datetime) -> int:
    """Delete hourly samples before a moment, at most ROWS_AT_ONCE. Return how many there were."""
    with connection.cursor() as cursor:
        cursor.execute(_DELETE, [until, ROWS_AT_ONCE])
        return cursor.rowcount


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
