"""The archived files that this process knows: small tables of what is where, never events (DESIGN D2, D8).

A cache: made from the files when the process starts, brought to the catalogue's version by whoever reads, and lost
without loss. What it holds is exact for one version of the catalogue. A version once made is never changed, so readers
hold no lock, and the files of segments that end stay for a while for those who still read them.
"""

import logging
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import connection
from prometheus_client import Counter, Histogram

from apps.core.domain.errors import UnavailableError
from apps.episodic.domain.archive_index import ArchiveIndex
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import SegmentDamagedError
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.window import Window
from apps.episodic.store.archived_segments import (
    ArchivedFileDamagedError,
    CatalogueListing,
    ListedSegment,
    catalogue_listing,
    catalogue_version,
    open_listed,
    unreadable,
)

LOAD_SECONDS = Histogram(
    "memoryhub_timeline_archive_load_seconds", "Time to load segment files that a process did not know."
)
LOADED_FILES = Counter("memoryhub_timeline_archive_files_loaded", "Segment files whose tables were read.")
# A process that has just started loads more files than this in the background, and refuses queries until it has them.
LOAD_IN_REQUEST = 16
RETRY_SECONDS = 2
_TRIES = 20
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ArchiveView:
    """What a process knows of a version of the catalogue."""

    listing: CatalogueListing = field(default_factory=CatalogueListing)
    index: ArchiveIndex = field(default_factory=ArchiveIndex)

    def with_files(self, listing: CatalogueListing, files: Mapping[ListedSegment, SegmentFile]) -> "ArchiveView":
        """The same for another version. files: those that this one does not have."""
        index = self.index.copy()
        for gone in self.listing.segments - listing.segments:
            index.remove(gone.id)
        for new in listing.segments - self.listing.segments:
            index.add(new.id, files[new])
        return ArchiveView(listing, index)

    def listed(self, segment_id: int) -> ListedSegment:
        """What the catalogue says of a segment of this view."""
        return next(segment for segment in self.listing.segments if segment.id == segment_id)


class TimelineLoadingError(UnavailableError):
    """This process does not know all files yet. progress: how far it is, for operators."""

    code = "timeline_loading"

    def __init__(self, progress: str) -> None:
        # How many segments there are is nothing for a caller with a bound.
        super().__init__("The timeline is being loaded. Try again shortly.", retry_after=RETRY_SECONDS)
        self.progress = progress


class ArchiveCache:
    """The newest view of this process, and how it comes to a newer one."""

    def __init__(self) -> None:
        self._view = ArchiveView()
        self._loading = threading.Lock()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._progress = (0, 0)
        self._failure = ""

    @property
    def nbytes(self) -> int:
        """Memory that the index takes, by and large."""
        return self._view.index.nbytes

    @property
    def _is_warm(self) -> bool:
        """Whether it has known all files of some version."""
        return self._view.listing.version >= 0

    def at(self, version: int) -> ArchiveView | None:
        """The view of a version of the catalogue; None when this process stands at another one."""
        view = self._view
        return view if view.listing.version == version else None

    def known(self, moments: Mapping[UUID, datetime]) -> dict[UUID, EventRecord]:
        """Which of these events are archived. moments: identity -> timestamp.

        Sees every file that was in service before the call. Opens nothing for events that no file's span of time
        holds. Raises TimelineLoadingError while the files that could hold one are being loaded, and
        ArchivedFileDamagedError, which is to be reported once the caller's transaction is over.
        """
        for _ in range(_TRIES):
            view = self._view
            listing = view.listing if catalogue_version() == view.listing.version else catalogue_listing()
            wanted = _by_segment(moments, listing)
            if wanted.keys() <= view.listing.segments:
                try:
                    return _found_in(view, wanted)
                except ArchivedFileDamagedError as damage:
                    if damage.is_in_service:
                        raise
                except OSError as error:
                    raise unreadable(error) from error
            else:
                self.refresh(reports=False)
        raise catalogue_contention()

    def refresh(self, *, patient: bool = False, reports: bool = True) -> None:
        """Come to the catalogue's version. reports: False in a transaction: raise ArchivedFileDamagedError.

        Raises TimelineLoadingError in a process that never knew a version and has more than LOAD_IN_REQUEST files to
        load, which goes on in the background; patient callers, who answer nobody, load them themselves. A process
        that knew one loads what is new while its caller waits, however much that is: it has said that it is ready.
        """
        if not patient and not self._is_warm and len(catalogue_listing().segments) > LOAD_IN_REQUEST:
            self.warm_up()
            raise self._still_loading()
        with self._loading:
            try:
                self._load(reports=reports)
            except OSError as error:
                raise unreadable(error) from error

    def warm_up(self) -> None:
        """Begin to load in the background, unless that is going on."""
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._load_in_background, name="timeline-warm-up", daemon=True)
                self._thread.start()

    def _still_loading(self) -> TimelineLoadingError:
        number, total = self._progress
        if self._failure:
            return TimelineLoadingError(f"could not be loaded ({self._failure}); it is being tried again")
        return TimelineLoadingError(f"loading segment {number} of {total}" if total else "beginning to load")

    def _load_in_background(self) -> None:
        try:
            with self._loading:
                self._load()
            self._failure = ""
        except Exception as error:  # noqa: BLE001  (whoever asks next starts it again, and is told)
            self._failure = type(error).__name__
            logger.warning("the timeline could not be loaded: %s", self._failure)
        finally:
            self._progress = (0, 0)
            connection.close()

    def _load(self, *, reports: bool = True) -> None:
        files: dict[ListedSegment, SegmentFile] = {}
        while True:
            listing = catalogue_listing()
            if listing == self._view.listing:
                return
            missing = sorted(listing.segments - self._view.listing.segments - files.keys())
            if not missing:
                break
            with LOAD_SECONDS.time():
                self._open_all(missing, files, reports=reports)
        self._view = self._view.with_files(listing, files)

    def _open_all(
        self, missing: list[ListedSegment], files: dict[ListedSegment, SegmentFile], *, reports: bool
    ) -> None:
        for number, segment in enumerate(missing, 1):
            self._progress = (number, len(missing))
            try:
                files[segment] = open_listed(segment)
            except SegmentDamagedError as error:
                damage = ArchivedFileDamagedError(segment, error)
                if not reports:
                    raise damage from error
                damage.report()
            LOADED_FILES.inc()


def catalogue_contention() -> UnavailableError:
    """The files changed whenever they were looked at."""
    return UnavailableError("The files of the timeline change all the time. Try again.", code="catalogue_contention")


def _by_segment(moments: Mapping[UUID, datetime], listing: CatalogueListing) -> dict[ListedSegment, list[UUID]]:
    """The identities that each segment may hold, by their timestamps; segments that may hold none are left out."""
    if not moments:
        return {}
    span = Window(min(moments.values()), max(moments.values()))
    places = {
        segment: [identity for identity, moment in moments.items() if segment.span.contains(moment)]
        for segment in listing.segments
        if segment.span.overlaps(span)
    }
    return {segment: identities for segment, identities in places.items() if identities}


def _found_in(view: ArchiveView, wanted: Mapping[ListedSegment, list[UUID]]) -> dict[UUID, EventRecord]:
    found: dict[UUID, EventRecord] = {}
    for segment, identities in wanted.items():
        try:
            found |= view.index.file(segment.id).find(identities)
        except SegmentDamagedError as error:
            raise ArchivedFileDamagedError(segment, error) from error
    return found


_cache = ArchiveCache()


def archive_cache() -> ArchiveCache:
    """The cache of this process."""
    return _cache


def forget_archive() -> None:
    """Begin anew, as a process does that has just started."""
    global _cache
    _cache = ArchiveCache()


# A forked process has the threads and the locks of its parent only as they stood.
os.register_at_fork(after_in_child=forget_archive)
