"""The segment that takes the writes."""

from datetime import datetime

from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.models import Segment
from apps.episodic.store.catalogue import last_arrival


def segment_open(*, now: datetime) -> None:
    """Have an open segment: make one if there is none. However many do so at once, it is one (a unique constraint).

    Waits for a transaction that is just making one.
    """
    segment = Segment(state=SegmentState.OPEN, opened_at=now, first_arrival=last_arrival())
    Segment.objects.bulk_create([segment], ignore_conflicts=True)
