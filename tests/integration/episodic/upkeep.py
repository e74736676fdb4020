"""Timelines for tests of maintenance: filled by the services, moved on by maintenance, and read without any cache."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from apps.core.domain.clock import DeterministicClock
from apps.core.domain.scope import Scope, system_access
from apps.episodic.domain.event import EventDraft, EventRecord
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.maintenance.run import timeline_maintain, timeline_seal
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.recording.record import RecordAction, events_record
from apps.episodic.store.files import list_files, segment_place

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
START_MS = int(START.timestamp() * 1000)
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
ACCESS = system_access("test")


def draft(number: int, **fields: Any) -> EventDraft:
    """The event of this number: another one for each number, a minute after the one before, of one of three users."""
    scope = fields.pop("scope", Scope(f"user-{number % 3}"))
    values = {"timestamp": START + timedelta(minutes=number), "event_type": "message", "content": f"event {number}"}
    return EventDraft(scope=scope, **{**values, **fields})


def record(numbers: Iterable[int], *, clock: DeterministicClock | None = None, **fields: Any) -> list[UUID]:
    """Record these events; return the ids of those that are new."""
    outcomes = events_record(
        access=ACCESS, drafts=[draft(number, **fields) for number in numbers], clock=clock or clock_at()
    )
    assert not [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    return [outcome.record.uuid for outcome in outcomes if outcome.action is RecordAction.RECORDED]


def clock_at(days: float = 0) -> DeterministicClock:
    """Return a clock that is so many days after START."""
    return DeterministicClock(START_MS + int(days * DAY_MS))


def a_sealed_segment(numbers: Iterable[int], **fields: Any) -> Segment:
    """Record these events, and have them sealed in a segment of their own."""
    record(numbers, **fields)
    timeline_seal(clock=clock_at())
    return Segment.objects.filter(state=SegmentState.SEALED).latest("pk")


def an_archived_segment(numbers: Iterable[int], **fields: Any) -> Segment:
    """Record these events, and have them archived in a segment of their own; no merging of it with others."""
    segment = a_sealed_segment(numbers, **fields)
    archive(segment)
    return segment


def archive(segment: Segment) -> None:
    """Let the file of a sealed segment count, and remove its rows."""
    from apps.episodic.maintenance.archive import rows_drop, segment_archive

    segment_archive(segment, clock=clock_at())
    rows_drop(segment)


def hot() -> list[EventRecord]:
    """The rows that count."""
    return [row.record for row in TimelineEvent.objects.readable()]


def archived() -> list[EventRecord]:
    """Return the events of the files that count, read from the disk."""
    segments = Segment.objects.filter(state=SegmentState.ARCHIVED)
    return [event for one in segments for event in SegmentFile.open(segment_place(one.file_name), one.uuid).events()]


def contents() -> Counter[str]:
    """Everything that counts, by content: how often each event is there."""
    return Counter(event.content for event in [*hot(), *archived()])


def expected(numbers: Iterable[int]) -> Counter[str]:
    """These events, each once."""
    return Counter(f"event {number}" for number in numbers)


def states() -> list[str]:
    """The states of all segments, in the order of their making."""
    return list(Segment.objects.order_by("pk").values_list("state", flat=True))


def files() -> set[str]:
    """The names of the files of segments."""
    return set(list_files().segments)


def maintain(days: float = 0, **options: Any) -> Any:
    """One maintenance, so many days after START."""
    return timeline_maintain(clock=clock_at(days), **options)
