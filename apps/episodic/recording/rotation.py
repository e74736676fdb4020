"""Open and close the segment that takes the writes (spec 000, Snapshot and compaction)."""

from datetime import datetime

from django.conf import settings
from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.episodic.domain.compaction import is_full, is_old
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.jobs import request_maintenance
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.store.catalogue import StaleSegmentError, last_arrival, segment_step


def segment_open(*, now: datetime) -> None:
    """Create the open segment if there is none; a unique constraint keeps it the only one, however many try at once.

    Waits for a transaction that is just creating one.
    """
    segment = Segment(state=SegmentState.OPEN, opened_at=now, first_arrival=last_arrival())
    Segment.objects.bulk_create([segment], ignore_conflicts=True)


def segment_close(*, segment_id: int, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Close the open segment, open the next one, and request that the closed one is sealed. Return whether it did.

    Running writers may still add to the closed one until they commit; neither side waits. A segment that holds nothing
    stays open, and its arrivals are counted from here on.
    """
    segment = Segment.objects.filter(pk=segment_id, state=SegmentState.OPEN).first()
    if segment is None or not close_unless_empty(segment, clock):
        return False
    request_maintenance()
    return True


def rotate_if_due(*, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Close the open segment if it is full, or has held events for too long. Return whether it did."""
    segment = Segment.objects.filter(state=SegmentState.OPEN).first()
    if segment is None:
        return False
    timeline = settings.MEMORYHUB.timeline
    if not is_full(segment.first_arrival, last_arrival(), timeline.segment_events):
        events = TimelineEvent.objects.filter(segment=segment).order_by("id")
        if not is_old(events.values_list("recorded_at", flat=True).first(), utcnow(clock), timeline.rotate_hours):
            return False
    return close_unless_empty(segment, clock)


def close_unless_empty(segment: Segment, clock: Clock) -> bool:
    """Close a segment that the caller saw open, and open the next one. Return whether this call did it."""
    if not TimelineEvent.objects.filter(segment=segment).exists():
        Segment.objects.filter(pk=segment.pk, state=SegmentState.OPEN).update(first_arrival=last_arrival())
        return False
    now = utcnow(clock)
    try:
        with transaction.atomic():
            segment_step(segment, SegmentState.SEALING, clock=clock, closed_at=now)
            segment_open(now=now)
    except StaleSegmentError:
        return False
    return True
