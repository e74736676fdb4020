"""The archived segments as the catalogue has them, and their files as they are found."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from apps.core.domain.errors import UnavailableError
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.domain.window import Window
from apps.episodic.models import Segment
from apps.episodic.store.catalogue import segment_quarantine
from apps.episodic.store.files import segment_place
from apps.episodic.store.rows import VERSION

LISTING_SQL = f"""
SELECT {VERSION}, s.id, s.uuid, s.file_name, s.sha256, s.size_bytes, s.event_count, s.first_timestamp, s.last_timestamp
FROM (VALUES (1)) AS one LEFT JOIN episodic_segment AS s ON s.state = 'archived'
"""  # noqa: S608  (built from constants)


class ListedSegment(NamedTuple):
    """An archived segment, as the catalogue has it."""

    id: int
    uuid: UUID
    file_name: str
    sha256: str
    size_bytes: int
    event_count: int
    first_timestamp: datetime
    last_timestamp: datetime

    @property
    def span(self) -> Window:
        """Return the time from its earliest event to its latest."""
        return Window(self.first_timestamp, self.last_timestamp)


@dataclass(frozen=True)
class CatalogueListing:
    """What the catalogue holds at a version; -1 before it was ever read."""

    version: int = -1
    segments: frozenset[ListedSegment] = frozenset()


def catalogue_listing() -> CatalogueListing:
    """Return the archived segments as they are now."""
    with connection.cursor() as cursor:
        cursor.execute(LISTING_SQL)
        rows = cursor.fetchall()
    return CatalogueListing(rows[0][0], frozenset(ListedSegment(*row[1:]) for row in rows if row[1] is not None))


def catalogue_version() -> int:
    """Return the version of the catalogue as it is now."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {VERSION}")
        return int(cursor.fetchone()[0])


def count_damaged() -> int:
    """Return how many segments are out of service because their files are damaged."""
    return Segment.objects.filter(state=SegmentState.QUARANTINED).count()


class ArchivedFileDamagedError(Exception):
    """The file of a segment could not be read."""

    def __init__(self, segment: ListedSegment, damage: SegmentDamagedError) -> None:
        super().__init__(f"segment {segment.id}: {damage}")
        self.segment = segment
        self.damage = damage

    @property
    def is_in_service(self) -> bool:
        """Return whether the file still counts; one that has left may be gone."""
        return self.segment in catalogue_listing().segments

    def report(self) -> None:
        """Take the file out of service, unless it has left already. Call it outside a transaction."""
        if self.is_in_service:
            segment_quarantine(segment_id=self.segment.id, error=self.damage)


def open_archived(segment: ListedSegment) -> SegmentFile:
    """Open the file of a segment. Raises SegmentDamagedError, also for an intact file that is not the catalogue's."""
    file = SegmentFile.open(segment_place(segment.file_name), segment.uuid)
    if (file.summary.event_count, file.summary.size_bytes) != (segment.event_count, segment.size_bytes):
        raise SegmentDamagedError(Damage.MISMATCH, "It is another file than the catalogue's.")
    return file


def unreadable_error(error: OSError) -> UnavailableError:
    """Return the error for a system that refuses to read files, which says nothing about the files."""
    detail = f"The files of the timeline cannot be read: {error.strerror or type(error).__name__}."
    return UnavailableError(detail, code="timeline_unreadable")
