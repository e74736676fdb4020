"""Events of the timeline in exports and imports, whether they are rows or lines of segment files."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import UTC
from functools import partial
from typing import Any

from django.db.models import Q

from apps.core.db.memberships import ties_of_import
from apps.core.domain.clock import SYSTEM_CLOCK
from apps.core.personal.columns import Columns, json_value
from apps.core.personal.store import ExportRequest, Line, LineError, PersonalStore, SnapshotBrokenError
from apps.episodic.domain.event import EventRecord, ScopeKey, event_identity
from apps.episodic.domain.filters import EVENT_FIELDS
from apps.episodic.domain.window import Window
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.queries.export import ExportFilter, read_from
from apps.episodic.recording.record import RecordAction, find_or_insert
from apps.episodic.store.archived_segments import ArchivedFileDamagedError, catalogue_version, count_damaged
from apps.episodic.store.file_cache import ArchiveView, archive_cache

EVENT = "event"
# How a hub orders and recognises events: both follow from the rest.
DERIVED = frozenset(("arrival", "identity", "key"))
NAMES = tuple(one.name for one in fields(EventRecord) if one.name not in DERIVED)


class EventTransfer(PersonalStore):
    """Exports events by scope and time, and records them again as they were."""

    kinds = (EVENT,)
    filter_fields = EVENT_FIELDS

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Return the events of the snapshot: its rows, and the files that the catalogue of the snapshot has."""
        # Where this process knows the files of another moment, only the next snapshot can have them.
        view = archive_cache().at(catalogue_version())
        if view is None:
            raise SnapshotBrokenError(settle=partial(archive_cache().refresh, wait=True))
        return event_lines(ExportFilter(asked.scope, Window(None, None), (), asked.where("events")), view)

    def count_damaged(self, asked: ExportRequest) -> int:
        """Return how many segments are out of service."""
        return count_damaged()

    def is_empty(self) -> bool:
        """Return whether there is no event, neither in a row nor in a file."""
        return not (TimelineEvent.objects.exists() or Segment.objects.filter(~Q(file_name="")).exists())

    def load(self, lines: Sequence[Line]) -> int:
        """Record the events that the timeline does not have. No hub event is emitted: they are no news."""
        columns, records = Columns(TimelineEvent, ("identity",)), dict[Any, EventRecord]()
        for place, line in enumerate(lines):
            try:
                values = columns.read(line)
                key = ScopeKey(*(values.pop(name) for name in ScopeKey._fields))
                values["recorded_at"] = values["recorded_at"].astimezone(UTC)
                identity = event_identity(key, values["event_type"], values["timestamp"], values["content"])
                record = EventRecord(arrival=0, key=key, identity=identity, **values)
            except ValueError as error:
                raise LineError(place, str(error)) from error
            records.setdefault(record.identity, record)
        results = find_or_insert(records, SYSTEM_CLOCK)
        ties_of_import(record.key.scope for record in records.values())
        return sum(result.action is RecordAction.RECORDED for result in results.values())


def event_lines(wanted: ExportFilter, view: ArchiveView) -> Iterator[Line]:
    """Yield events by user, household and persona, then by time and arrival. Raises SnapshotBrokenError."""
    try:
        for event in read_from(wanted, known=view):
            values = {name: json_value(getattr(event, name)) for name in NAMES}
            yield {"kind": EVENT, **event.key._asdict(), **values}
    except ArchivedFileDamagedError as damage:
        raise SnapshotBrokenError(settle=damage.report) from damage
