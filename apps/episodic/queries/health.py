"""How the timeline is, in one sentence for operators: what is wrong, and when the open segment is sealed."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.db.models import Count, Sum
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext, ngettext

from apps.core.admin.kit import filesize
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.models import Segment
from apps.episodic.warnings import active_warnings

# The size is that of the last rows, times their number.
SQL = """
SELECT counted.*, (
    SELECT round(avg(pg_column_size(last.*)) * counted.events)::bigint FROM (
        SELECT * FROM episodic_timelineevent AS e WHERE e.segment_id = counted.segment_id ORDER BY e.id DESC LIMIT 200
    ) AS last
) FROM (
    SELECT e.segment_id, count(*) AS events, min(e.recorded_at), min(e.timestamp), max(e.timestamp)
    FROM episodic_timelineevent AS e WHERE e.segment_id = ANY (%s) GROUP BY e.segment_id
) AS counted
"""


@dataclass(frozen=True)
class SegmentRows:
    """What the rows of a segment are. began_at: when the first was recorded. size_bytes: about, in the table."""

    events: int = 0
    began_at: datetime | None = None
    first_timestamp: datetime | None = None
    last_timestamp: datetime | None = None
    size_bytes: int = 0

    @property
    def sealed_by(self) -> datetime | None:
        """Return when an open segment is closed at the latest; the next maintenance then seals it."""
        hours = settings.MEMORYHUB.timeline.rotate_hours
        return None if self.began_at is None else self.began_at + timedelta(hours=hours)


NO_ROWS = SegmentRows()


@dataclass(frozen=True)
class TimelineHealth:
    """Whether all is well, in one sentence. tone: good, warn or bad. damaged, warnings: numbers of active ones."""

    sentence: str
    tone: str
    damaged: int
    warnings: int


def segment_rows(ids: list[int]) -> dict[int, SegmentRows]:
    """Return what the rows of segments are, without those that have none. Reads an index and the rows themselves."""
    with connection.cursor() as cursor:
        cursor.execute(SQL, [ids])
        return {segment: SegmentRows(*rest) for segment, *rest in cursor.fetchall()}


def timeline_health(clock: Clock = SYSTEM_CLOCK) -> TimelineHealth:
    """Return how the timeline of all users is."""
    rows = Segment.objects.order_by().values_list("state").annotate(Count("pk"), Sum("event_count"))
    states = {state: (count, events) for state, count, events in rows}
    damaged, lost = states.get(SegmentState.QUARANTINED, (0, 0))
    warnings = active_warnings().count()
    tone = "bad" if damaged else "warn" if warnings else "good"
    return TimelineHealth(f"{verdict(damaged, lost, warnings)} {open_segment_words(clock)}", tone, damaged, warnings)


def verdict(damaged: int, lost: int, warnings: int) -> str:
    """Return what is wrong, or that nothing is."""
    if not damaged and not warnings:
        return gettext("All segments are fine.")
    active = ngettext("%(shown)s warning is active", "%(shown)s warnings are active", warnings)
    active %= {"shown": f"{warnings:,}"}
    if not damaged:
        return gettext("%(what)s.") % {"what": active}
    events = ngettext("%(shown)s event", "%(shown)s events", lost) % {"shown": f"{lost:,}"}
    which = ngettext(
        "%(shown)s segment is damaged: its %(events)s cannot be read",
        "%(shown)s segments are damaged: their %(events)s cannot be read",
        damaged,
    ) % {"shown": f"{damaged:,}", "events": events}
    if not warnings:
        return gettext("%(what)s.") % {"what": which}
    return gettext("%(one)s and %(other)s.") % {"one": which, "other": active}


def open_segment_words(clock: Clock) -> str:
    """Return since when the open segment takes events, how many, of what size, and when it is sealed."""
    segment = Segment.objects.filter(state=SegmentState.OPEN).first()
    if segment is None:
        return gettext("There is no open segment: the first recorded event opens one.")
    rows, full = segment_rows([segment.pk]).get(segment.pk, NO_ROWS), settings.MEMORYHUB.timeline.segment_events
    if rows.began_at is None:
        return gettext("The open segment has been empty since %(at)s.") % {"at": when(segment.opened_at)}
    assert rows.sealed_by is not None
    events = ngettext("%(shown)s event", "%(shown)s events", rows.events) % {"shown": f"{rows.events:,}"}
    values = {
        "events": gettext("%(events)s (%(size)s)") % {"events": events, "size": filesize(rows.size_bytes)},
        "since": when(rows.began_at),
        "at": when(rows.sealed_by),
        "full": f"{full:,}",
    }
    if rows.sealed_by <= utcnow(clock):
        words = gettext(
            "The open segment has %(events)s since %(since)s; it will be sealed by the next maintenance, which has "
            "been due since %(at)s."
        )
    else:
        words = gettext(
            "The open segment has %(events)s since %(since)s; it is sealed at %(at)s, or when it has %(full)s events."
        )
    return words % values


def when(moment: datetime) -> str:
    """Format a moment to the minute, with its zone."""
    return date_format(localtime(moment), "Y-m-d H:i T")
