"""Closing the open segment: by capacity, or when it has held events for long (spec 000, Snapshot and compaction)."""

from datetime import datetime

from django.conf import settings
from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.episodic.domain.rotation import is_full, is_old
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.jobs import request_maintenance
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.recording.open_segment import segment_open
from apps.episodic.store.catalogue import StaleSegmentError, last_arrival, segment_step


def segment_close(*, segment_id: int, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Close the open segment, open the next one, and have the closed one sealed soon; True if this call did it.

    Writers that are at work may still add to the closed one until they commit; nobody waits for anybody. A segment that
    holds nothing stays open, and its arrivals are counted anew from here.
    """
    segment = Segment.objects.filter(pk=segment_id, state=SegmentState.OPEN).first()
    if segment is None or not close_unless_empty(segment, clock):
        return False
    request_maintenance()
    return True


def rotate_if_due(*, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Close the open segment if it is full or old; True if that was done."""
    segment = Segment.objects.filter(state=SegmentState.OPEN).first()
    return segment is not None and _is_due(segment, utcnow(clock)) and close_unless_empty(segment, clock)


def close_unless_empty(segment: Segment, clock: Clock) -> bool:
    """Close a segment that was just seen to be open, without asking for anything else; True if this call did it."""
    if not TimelineEvent.objects.filter(segment=segment).exists():
        Segment.objects.filter(pk=segment.pk, state=SegmentState.OPEN).update(first_arrival=last_arrival())
        return False
    try:
        _close(segment, clock)
    except StaleSegmentError:
        return False
    return True


@transaction.atomic
def _close(segment: Segment, clock: Clock) -> None:
    now = utcnow(clock)
    segment_step(segment, SegmentState.SEALING, clock=clock, closed_at=now)
    segment_open(now=now)


def _is_due(segment: Segment, now: datetime) -> bool:
    timeline = settings.MEMORYHUB.timeline
    if is_full(segment.first_arrival, last_arrival(), timeline.segment_events):
        return True
    first = TimelineEvent.objects.filter(segment=segment).order_by("id").values_list("recorded_at", flat=True).first()
    return is_old(first, now, timeline.rotate_hours)
