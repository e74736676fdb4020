"""Spans of time that a chart has one point for."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

MINUTE, HOUR, DAY = 60, 3_600, 86_400
# Widths of buckets in seconds: each begins on a round moment of UTC.
WIDTHS = (
    MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 20 * MINUTE, 30 * MINUTE,
    HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR, 6 * HOUR, 8 * HOUR, 12 * HOUR,
    DAY, 2 * DAY, 4 * DAY, 7 * DAY, 14 * DAY, 28 * DAY,
)  # fmt: skip


@dataclass(frozen=True)
class Buckets:
    """Buckets of the same width in seconds, the last of which holds the end of a span. first: number since 1970."""

    width: int
    first: int
    count: int

    @property
    def start(self) -> datetime:
        """Return when the first bucket begins."""
        return self.begin(0)

    @property
    def end(self) -> datetime:
        """Return when the last bucket ends."""
        return self.begin(self.count)

    def begin(self, index: int) -> datetime:
        """Return when a bucket begins. index: 0 for the first."""
        return datetime.fromtimestamp((self.first + index) * self.width, UTC)

    def fill(self, values: Mapping[int, float], until: datetime | None = None) -> list[tuple[datetime, float | None]]:
        """Return every bucket with its value, None where there is none. values: by number since 1970.

        until: buckets that end later have no value: the sum of an unfinished one would look like a fall.
        """
        moments = [self.begin(index) for index in range(self.count + 1)]
        return [
            (
                moments[index],
                values.get(self.first + index) if until is None or moments[index + 1] <= until else None,
            )
            for index in range(self.count)
        ]


def plan_buckets(start: datetime, end: datetime, points: int, finest: int = MINUTE) -> Buckets:
    """Return at most `points` buckets up to `end` that cover the span but for a part of its first bucket.

    finest: the least width in seconds. Raises ValueError for a span or a number of points that is not positive.
    """
    span = (end - start).total_seconds()
    if span <= 0 or points < 1:
        raise ValueError("A span of time and a number of points are positive.")
    least = max(span / points, finest)
    # A span of decades has wider ones still.
    width = next((width for width in WIDTHS if width >= least), -(-int(least) // DAY) * DAY + DAY)
    count = max(1, min(points, -(-int(span) // width)))
    last = int((end - timedelta(microseconds=1)).timestamp()) // width
    return Buckets(width, last - count + 1, count)
