"""The archived files that this process knows: small tables of what is where, never events (DESIGN D2, D8).

A cache: built from the files when the process starts, brought to the catalogue's version by every reader, and lost
without loss. What it holds is exact for one version of the catalogue. A view is never changed once it is built, so
readers hold no lock, and the files of segments that end stay for a while for readers that still use them.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import connection
from prometheus_client import Counter, Histogram

from apps.core.domain.caches import CacheState, list_cache
from apps.core.domain.errors import UnavailableError
from apps.core.per_process import PerProcess
from apps.episodic.domain.archive_index import ArchiveIndex
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.access import Place
from apps.episodic.domain.segment_file.format import SegmentDamagedError
from apps.episodic.domain.segment_file.reader import BYTES_PER_EVENT, EventColumns, SegmentFile
from apps.episodic.domain.window import Window
from apps.episodic.store.archived_segments import (
    ArchivedFileDamagedError,
    CatalogueListing,
    ListedSegment,
    catalogue_listing,
    catalogue_version,
    open_archived,
    unreadable_error,
)
from apps.episodic.store.files import keep_only

LOAD_SECONDS = Histogram(
    "memoryhub_timeline_archive_load_seconds", "Time to load segment files that a process did not know."
)
LOADED_FILES = Counter("memoryhub_timeline_archive_files_loaded", "Segment files whose tables were read.")
# A process that has just started loads more files than this in the background, and refuses queries until it has them.
LOAD_IN_REQUEST = 16
RETRY_SECONDS = 2
TRIES = 20
logger = logging.getLogger(__name__)
# Of some five million events.
CACHE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class ArchiveView:
    """What a process knows of a version of the catalogue."""

    listing: CatalogueListing = field(default_factory=CatalogueListing)
    index: ArchiveIndex = field(default_factory=ArchiveIndex)

    def with_files(self, listing: CatalogueListing, files: Mapping[ListedSegment, SegmentFile]) -> "ArchiveView":
        """Return a view of another version. files: those that this view does not have."""
        index = self.index.copy()
        for gone in self.listing.segments - listing.segments:
            index.remove(gone.id)
        for new in listing.segments - self.listing.segments:
            index.add(new.id, files[new])
        return ArchiveView(listing, index)

    def segment(self, segment_id: int) -> ListedSegment:
        """Return what the catalogue says of a segment of this view."""
        return next(segment for segment in self.listing.segments if segment.id == segment_id)

    def find(self, wanted: Mapping[ListedSegment, list[UUID]]) -> dict[UUID, EventRecord]:
        """Return which of these identities are in the files of their segments. Raises ArchivedFileDamagedError."""
        found: dict[UUID, EventRecord] = {}
        for segment, identities in wanted.items():
            try:
                found |= self.index.file(segment.id).find(identities)
            except SegmentDamagedError as error:
                raise ArchivedFileDamagedError(segment, error) from error
        return found


class TimelineLoadingError(UnavailableError):
    """This process does not know all files yet. progress: how far it is, for operators."""

    code = "timeline_loading"

    def __init__(self, progress: str) -> None:
        # A caller with a bound must not learn how many segments there are.
        super().__init__("The timeline is being loaded. Try again shortly.", retry_after=RETRY_SECONDS)
        self.progress = progress


class ArchiveCache:
    """The newest view of this process, and how it is brought to a newer version."""

    def __init__(self) -> None:
        self._view = ArchiveView()
        self._loading = threading.Lock()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._progress = (0, 0)
        self._failure = ""

    @property
    def nbytes(self) -> int:
        """Return about how much memory the index takes."""
        return self._view.index.nbytes

    def at(self, version: int) -> ArchiveView | None:
        """Return the view of a version of the catalogue; None when this process has another one."""
        view = self._view
        return view if view.listing.version == version else None

    def find(self, moments: Mapping[UUID, datetime]) -> dict[UUID, EventRecord]:
        """Return which of these events are archived. moments: identity -> timestamp.

        Sees every file that was in service before the call. Opens nothing for events that no file's span of time
        holds. Raises TimelineLoadingError while the files that could hold one are being loaded, and
        ArchivedFileDamagedError, which is to be reported once the caller's transaction is over.
        """
        for _ in range(TRIES):
            view = self._view
            listing = view.listing if catalogue_version() == view.listing.version else catalogue_listing()
            wanted = group_by_segment(moments, listing)
            if wanted.keys() <= view.listing.segments:
                try:
                    return view.find(wanted)
                except ArchivedFileDamagedError as damage:
                    if damage.is_in_service:
                        raise
                except OSError as error:
                    raise unreadable_error(error) from error
            else:
                self.refresh(report_damage=False)
        raise catalogue_contention()

    def refresh(self, *, wait: bool = False, report_damage: bool = True) -> None:
        """Bring the view to the catalogue's version.

        report_damage: False in a transaction, where ArchivedFileDamagedError is raised instead. Raises
        TimelineLoadingError in a process that never knew a version and has more than LOAD_IN_REQUEST files to load,
        which goes on in the background; callers outside a request wait for them. A process that knew a version loads
        new files while its caller waits, however many they are: it has said that it is ready.
        """
        is_warm = self._view.listing.version >= 0
        if not wait and not is_warm and len(catalogue_listing().segments) > LOAD_IN_REQUEST:
            self.warm_up()
            number, total = self._progress
            progress = f"loading segment {number} of {total}" if total else "beginning to load"
            if self._failure:
                progress = f"could not be loaded ({self._failure}); it is being tried again"
            raise TimelineLoadingError(progress)
        with self._loading:
            try:
                self._load(report_damage=report_damage)
            except OSError as error:
                raise unreadable_error(error) from error

    def rebuild(self) -> None:
        """Bring the view to the catalogue's version, and forget the scopes of which no file holds events any more."""
        if self._view.listing.version < 0:
            return
        with self._loading:
            self._load(report_damage=True)
            self._view = ArchiveView(self._view.listing, self._view.index.rebuilt())

    def warm_up(self) -> None:
        """Begin to load in the background, unless that is going on."""
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._load_in_background, name="timeline-warm-up", daemon=True)
                self._thread.start()

    def _load_in_background(self) -> None:
        try:
            with self._loading:
                self._load(report_damage=True)
            self._failure = ""
        except Exception as error:  # noqa: BLE001  (the next caller starts it again, and gets the error)
            self._failure = type(error).__name__
            logger.warning("the timeline could not be loaded: %s", self._failure)
        finally:
            self._progress = (0, 0)
            connection.close()

    def _load(self, *, report_damage: bool) -> None:
        """Open the files that the view does not have, until the catalogue lists no further ones."""
        files: dict[ListedSegment, SegmentFile] = {}
        while True:
            listing = catalogue_listing()
            if listing == self._view.listing:
                keep_only(segment.file_name for segment in listing.segments)
                return
            missing = sorted(listing.segments - self._view.listing.segments - files.keys())
            if not missing:
                break
            with LOAD_SECONDS.time():
                for number, segment in enumerate(missing, 1):
                    self._progress = (number, len(missing))
                    try:
                        files[segment] = open_archived(segment)
                    except SegmentDamagedError as error:
                        damage = ArchivedFileDamagedError(segment, error)
                        if not report_damage:
                            raise damage from error
                        damage.report()
                    LOADED_FILES.inc()
        self._view = self._view.with_files(listing, files)
        keep_only(segment.file_name for segment in listing.segments)


def catalogue_contention() -> UnavailableError:
    """Return the error for files that changed at every try to read them."""
    return UnavailableError(
        "The files of the timeline changed at every try to read them. Try again.", code="catalogue_contention"
    )


def group_by_segment(moments: Mapping[UUID, datetime], listing: CatalogueListing) -> dict[ListedSegment, list[UUID]]:
    """Return the identities that each segment may hold, by their timestamps, for segments that may hold any."""
    if not moments:
        return {}
    span = Window(min(moments.values()), max(moments.values()))
    places = {
        segment: [identity for identity, moment in moments.items() if segment.span.contains(moment)]
        for segment in listing.segments
        if segment.span.overlaps(span)
    }
    return {segment: identities for segment, identities in places.items() if identities}


_cache = PerProcess(ArchiveCache)


def archive_cache() -> ArchiveCache:
    """Return the cache of this process."""
    return _cache.get()


def reset_archive_cache() -> None:
    """Begin with an empty cache, as a process does that has just started."""
    _cache.forget()


class ColumnCache:
    """The columns of the files used last, as many as fit into a size in bytes. A file of one name never changes."""

    def __init__(self, max_bytes: int = CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._columns: OrderedDict[Place, EventColumns] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return how many files have theirs here."""
        return len(self._columns)

    @property
    def nbytes(self) -> int:
        """Return about the size of what is cached."""
        return sum(len(one.times) for one in list(self._columns.values())) * BYTES_PER_EVENT

    def known(self, file: SegmentFile) -> EventColumns | None:
        """Return the columns of a file if they are cached."""
        with self._lock:
            if file.place in self._columns:
                self._columns.move_to_end(file.place)
            return self._columns.get(file.place)

    def read(self, file: SegmentFile) -> EventColumns:
        """Return the columns of a file, and keep them. Raises SegmentDamagedError."""
        known = self.known(file)
        if known is not None:
            return known
        made = file.columns()
        with self._lock:
            self._columns[file.place] = made
        while len(self._columns) > 1 and self.nbytes > self._max_bytes:
            with self._lock:
                self._columns.popitem(last=False)
        return made


def cache_state() -> CacheState:
    """Return how full the cache of this process is."""
    cache = COLUMN_CACHE.get()
    return CacheState("times of archived events", len(cache), cache.nbytes, CACHE_BYTES)


COLUMN_CACHE = PerProcess(ColumnCache)
list_cache(cache_state)
