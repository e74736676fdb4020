"""A timeline in the test database, with maintenance taken step by step, and a plain list that should say the same."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from apps.core.domain.clock import DeterministicClock
from apps.core.domain.scope import Access, Scope, system_access
from apps.episodic.domain.event import EventDraft, EventRecord
from apps.episodic.domain.segment_state import RowsState, SegmentState
from apps.episodic.domain.window import EventQuery, QueryResult
from apps.episodic.maintenance.archive import rows_drop, segment_archive, segments_to_drop
from apps.episodic.maintenance.compact import segments_merge
from apps.episodic.maintenance.seal import segment_seal
from apps.episodic.models import Segment
from apps.episodic.queries.query import events_query
from apps.episodic.recording.record import RecordResult, events_record
from apps.episodic.recording.rows import segment_close
from tests.integration.episodic.records import NOW

SYSTEM = system_access("test")


def draft(content: str = "tea", **fields: Any) -> EventDraft:
    """Return an event of ana's at NOW, unless `fields` differ."""
    values = {"timestamp": NOW, "event_type": "message", "scope": Scope("ana"), **fields}
    return EventDraft(content=content, **values)


def segments(*states: SegmentState, **filters: Any) -> list[Segment]:
    return list(Segment.objects.filter(state__in=states, **filters).order_by("id"))


@dataclass
class Timeline:
    """Does to the timeline what maintenance would do, whenever a test says so. model: every event there should be."""

    clock: DeterministicClock = field(default_factory=lambda: DeterministicClock(round(NOW.timestamp() * 1000)))
    model: list[EventRecord] = field(default_factory=list)

    @property
    def now(self) -> datetime:
        return NOW + timedelta(milliseconds=self.clock.now() - round(NOW.timestamp() * 1000))

    def record(self, *drafts: EventDraft) -> list[EventRecord]:
        """Record events, which must be ones that can be; return those that were new."""
        results = events_record(access=SYSTEM, drafts=drafts, clock=self.clock)
        new: list[EventRecord] = []
        for result in results:
            assert isinstance(result, RecordResult), result
            new += [result.record] if result.action == "recorded" else []
        self.model += new
        return new

    def close(self) -> None:
        """Close the open segment, where it holds something."""
        for segment in segments(SegmentState.OPEN):
            segment_close(segment_id=segment.pk, clock=self.clock)

    def seal(self) -> None:
        """Write the files of closed segments."""
        for segment in segments(SegmentState.SEALING):
            segment_seal(segment, clock=self.clock)

    def flip(self) -> None:
        """Let the files of sealed segments count; their rows are still there."""
        for segment in segments(SegmentState.SEALED):
            segment_archive(segment, clock=self.clock)

    def drop(self) -> None:
        """Remove rows of which files have taken the place."""
        for segment in segments_to_drop():
            rows_drop(segment)

    def archive(self) -> None:
        """All of that: everything that is there becomes a file."""
        for step in (self.close, self.seal, self.flip, self.drop):
            step()

    def merge(self, some: Sequence[Segment] | None = None) -> None:
        """Make one of all archived segments, or of some."""
        group = segments(SegmentState.ARCHIVED, rows=RowsState.GONE) if some is None else some
        if len(group) > 1:
            segments_merge(group, clock=self.clock)

    def query(self, access: Access = SYSTEM, **fields: Any) -> QueryResult:
        """Ask, and see that the numbers add up."""
        result = events_query(access, EventQuery(**fields), self.clock)
        account = result.diagnostics
        assert account.returned == len(result.events)
        assert account.scanned == account.returned + sum(account.dropped.values()) == account.hot + account.archived
        assert min(account.dropped.values()) >= 0
        return result

    def expected(
        self,
        scope: Scope | None,
        start: datetime | None = None,
        end: datetime | None = None,
        event_types: Iterable[str] = (),
        top_k: int = 50,
        owners: Collection[str] = (),
    ) -> tuple[list[EventRecord], dict[str, int]]:
        """What a list would answer: the events, and the counts of scanned and dropped ones. owners: others included."""
        own = [event for event in self.model if scope is not None and event.key.is_in(scope)]
        mine = [event for event in self.model if event in own or event.key.user_id in owners]
        inside = [
            event
            for event in mine
            if (start is None or event.timestamp >= start) and (end is None or event.timestamp <= end)
        ]
        wanted = [event for event in inside if not event_types or event.event_type in set(event_types)]
        found = sorted(wanted, key=lambda event: (event.timestamp, event.arrival), reverse=True)[:top_k]
        counts = {
            "scanned": len(mine),
            "outside_window": len(mine) - len(inside),
            "event_type": len(inside) - len(wanted),
            "filter": 0,
            "beyond_top_k": len(wanted) - len(found),
        }
        return found, counts


def contents(result: QueryResult) -> list[str]:
    return [event.content for event in result.events]
