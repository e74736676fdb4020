"""The stores of the timeline: events in exports, imports and the forgetting of a user, in rows and segment files."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import UTC
from functools import partial
from typing import Any

from django.db.models import Q

from apps.core.db.memberships import ties_of_import
from apps.core.domain.clock import SYSTEM_CLOCK
from apps.core.domain.errors import ConflictError
from apps.core.domain.scope import Scope
from apps.core.personal.columns import Columns, json_value
from apps.core.personal.registry import register_stores
from apps.core.personal.settings_table import SettingsStore
from apps.core.personal.store import ExportRequest, Line, LineError, PersonalStore, SnapshotBrokenError
from apps.core.steps import Step, no_step
from apps.episodic.domain.event import EVENT_FIELDS, EventRecord, ScopeKey, event_identity
from apps.episodic.domain.retention import cutoff_for_scope
from apps.episodic.domain.segment_file.format import SegmentDamagedError
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.segment_state import RowsState, SegmentState
from apps.episodic.domain.window import Window
from apps.episodic.events import PruneReason
from apps.episodic.maintenance.archive import archived_rows_drop
from apps.episodic.maintenance.remove import Removal, removal_preview, remove_batch, segment_remove
from apps.episodic.maintenance.runner import maintenance_run, no_progress
from apps.episodic.models import RetentionPolicy, Segment, TimelineEvent
from apps.episodic.queries.export import ExportFilter, read_from
from apps.episodic.queries.text_search import VECTOR_CACHE
from apps.episodic.recording.record import RecordAction, find_or_insert
from apps.episodic.store.archived_segments import ArchivedFileDamagedError, catalogue_version, count_damaged
from apps.episodic.store.catalogue import file_verify
from apps.episodic.store.file_cache import ArchiveView, archive_cache
from apps.episodic.store.files import is_there, list_files, remove_file, remove_parts, segment_place

ACTOR = "erasure"
WAIT_SECONDS = 30.0
# Their files are in service, or are evidence of damage.
WITH_FILES = (SegmentState.SEALED, SegmentState.ARCHIVED, SegmentState.QUARANTINED)
EVENT = "event"
# How a hub orders and recognises events: both follow from the rest.
DERIVED = frozenset(("arrival", "identity", "key"))
NAMES = tuple(one.name for one in fields(EventRecord) if one.name not in DERIVED)


class EventErasure(PersonalStore):
    """Counts, forgets and finds events in rows and in segment files."""

    def count(self, user_id: str) -> int:
        of_user = cutoff_for_scope(Scope(user_id))
        return removal_preview(Q(user_id=user_id), of_user, Segment.objects.all(), no_progress).events

    def obstacles(self, user_id: str, *, full: bool) -> Iterator[str]:
        for segment in Segment.objects.filter(state=SegmentState.QUARANTINED).order_by("pk"):
            yield f"the segment {segment.uuid} is damaged: {segment.damage}"
        listing = list_files()
        yield from (f"timeline/quarantine/{name} was set aside" for name in listing.quarantined)
        known = set(Segment.objects.exclude(file_name="").values_list("file_name", flat=True))
        yield from (f"timeline/{name} is not in the catalogue" for name in listing.segments if name not in known)
        if full:
            for segment in Segment.objects.filter(state__in=(SegmentState.SEALED, SegmentState.ARCHIVED)):
                try:
                    file_verify(segment)
                except SegmentDamagedError as damage:
                    yield f"the segment {segment.uuid} is damaged: {damage}"

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        of_user = cutoff_for_scope(Scope(user_id))
        removal = Removal(Q(user_id=user_id), of_user, PruneReason.MANUAL, ACTOR, is_announced=False)
        with maintenance_run(WAIT_SECONDS, SYSTEM_CLOCK, step=step) as runner:
            archived_rows_drop(runner)
            # The files of sealed segments hold more than their rows from then on.
            count = 1
            while count:
                _, count, unsealed = remove_batch(TimelineEvent.objects.filter(user_id=user_id), removal, runner.clock)
                runner.step("events: rows")
                for name in unsealed:
                    remove_file(name)
                if count:
                    yield count
            archived = Segment.objects.filter(state=SegmentState.ARCHIVED, rows=RowsState.GONE)
            for segment in archived.order_by("pk"):
                try:
                    count = segment_remove(segment, removal, clock=runner.clock, step=runner.step)
                except SegmentDamagedError as damage:
                    runner.quarantine(segment, damage)
                    detail = f"The segment {segment.uuid} is damaged, and may hold events of this user: {damage}"
                    raise ConflictError(detail, code="damaged") from damage
                if count:
                    yield count
            # Maintenance would leave them for a minute to those who read them; they find the new ones when they look
            # again.
            remove_parts()
            segments = Segment.objects.exclude(file_name="")
            kept = set(segments.filter(state__in=WITH_FILES).values_list("file_name", flat=True))
            known = set(segments.values_list("file_name", flat=True))
            for name in list_files().segments:
                if name in known - kept:
                    remove_file(name)

    def find(self, user_id: str) -> Iterator[str]:
        if TimelineEvent.objects.filter(user_id=user_id).exists():
            yield "episodic_timelineevent"
        listing = list_files()
        yield from (f"timeline/{name}" for name in listing.segments if may_hold(name, user_id))
        yield from (f"timeline/{name}" for name in listing.parts)
        yield from (f"timeline/quarantine/{name}" for name in listing.quarantined)

    def drop_caches(self) -> None:
        archive_cache().rebuild()
        VECTOR_CACHE.forget()


def may_hold(file_name: str, user_id: str) -> bool:
    """Return whether a file holds events of a user, or cannot be read."""
    try:
        return any(key.user_id == user_id for key in SegmentFile.open(segment_place(file_name, afresh=True)).scopes)
    except SegmentDamagedError:
        return is_there(file_name)


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


class EventStore(EventErasure, EventTransfer):
    """Events, in rows and in segment files."""

    name = "events"
    order = 10
    models = (TimelineEvent,)


class RetentionPolicyStore(SettingsStore):
    """How long events are kept."""

    name = "retention_policies"
    order = 6
    models = (RetentionPolicy,)
    kinds = ("retention_policies",)
    key = ("household_id",)


register_stores((RetentionPolicyStore(), EventStore()))
