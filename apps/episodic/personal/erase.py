"""Forgetting of a user's events, in rows and in segment files."""

from collections.abc import Iterator

from django.db.models import Q

from apps.core.domain.clock import SYSTEM_CLOCK
from apps.core.domain.errors import ConflictError
from apps.core.domain.scope import Scope
from apps.core.personal.store import PersonalStore
from apps.core.steps import Step, no_step
from apps.episodic.domain.removal import cutoff_for_scope
from apps.episodic.domain.segment_file.format import SegmentDamagedError
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.segment_state import RowsState, SegmentState
from apps.episodic.events import PruneReason
from apps.episodic.maintenance.archive import archived_rows_drop
from apps.episodic.maintenance.remove import Removal, removal_preview, remove_batch, segment_remove
from apps.episodic.maintenance.runner import MaintenanceRunner, maintenance_run, no_progress
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.queries.vector_cache import VECTOR_CACHE
from apps.episodic.store.file_cache import archive_cache
from apps.episodic.store.files import list_files, remove_file, remove_parts, segment_path
from apps.episodic.store.verify import file_verify

ACTOR = "erasure"
WAIT_SECONDS = 30.0
# Their files are in service, or are evidence of damage.
WITH_FILES = (SegmentState.SEALED, SegmentState.ARCHIVED, SegmentState.QUARANTINED)


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
            yield from forget_rows(user_id, removal, runner)
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
            remove_useless_files()

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


def forget_rows(user_id: str, removal: Removal, runner: MaintenanceRunner) -> Iterator[int]:
    """Delete rows, and the files of sealed segments that hold more than their rows from then on."""
    rows = TimelineEvent.objects.filter(user_id=user_id)
    while True:
        _, count, unsealed = remove_batch(rows, removal, runner.clock)
        runner.step("events: rows")
        for name in unsealed:
            remove_file(name)
        if not count:
            return
        yield count


def remove_useless_files() -> None:
    """Remove the files of segments that ended or are not sealed, and those that were never finished. Under the lock.

    Maintenance would leave them for a minute to those who read them; they find the new ones when they look again.
    """
    remove_parts()
    segments = Segment.objects.exclude(file_name="")
    kept = set(segments.filter(state__in=WITH_FILES).values_list("file_name", flat=True))
    known = set(segments.values_list("file_name", flat=True))
    for name in list_files().segments:
        if name in known - kept:
            remove_file(name)


def may_hold(file_name: str, user_id: str) -> bool:
    """Return whether a file holds events of a user, or cannot be read."""
    try:
        return any(key.user_id == user_id for key in SegmentFile.open(segment_path(file_name)).scopes)
    except SegmentDamagedError:
        return segment_path(file_name).exists()
