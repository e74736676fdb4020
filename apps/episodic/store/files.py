"""The files of archived segments, in the data directory or in a bucket, and their room. Knows nothing of the catalogue.

A file appears under its name only when it is complete and was read back. OSErrors pass through: a full disk, no
permission, a store that does not answer.
"""

import shutil
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO
from uuid import UUID

from django.conf import settings

from apps.core.domain.errors import UnavailableError
from apps.core.file_roots import own_folder
from apps.core.object_storage.bucket import BucketFolder
from apps.core.object_storage.cached import PartCache
from apps.core.per_process import PerProcess
from apps.core.steps import Step, no_step
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.access import Place, opened
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError, SegmentSummary
from apps.episodic.store.archive_bucket import ArchiveBucket
from apps.episodic.store.archive_folder import ArchiveFolder
from apps.episodic.store.segment_files import THE_TIMELINE, ArchiveListing

WRITE_STEPS = ("create", "write", "flush", "fsync", "verify", "rename", "fsync_directory", "done")
PUT_STEPS = ("create", "write", "flush", "verify", "put", "done")
_MIB = 1024 * 1024


def archive_root() -> Path | BucketFolder:
    """Return where segment files are kept, whosever they are."""
    return BucketFolder.at(settings.TIMELINE_URL) if settings.TIMELINE_URL else Path(settings.TIMELINE_DIR)


def archive() -> ArchiveFolder | ArchiveBucket:
    """Return where segment files are kept; a folder is created if it is missing, for its owner only.

    Raises UnavailableError for one that is not this hub's: what is not seen there is not lost.
    """
    root = own_folder(archive_root(), THE_TIMELINE)
    if isinstance(root, BucketFolder):
        return ArchiveBucket(root, Path(settings.TIMELINE_DIR), _parts.get())
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    return ArchiveFolder(root)


def segment_place(file_name: str, *, afresh: bool = False) -> Place:
    """Return where a file is. Raises ValueError for a name that is none of a segment file, such as a path.

    afresh: read it where it is kept, and not what this machine keeps of a file of a bucket.
    """
    return archive().place(file_name, afresh=afresh)


def is_there(file_name: str) -> bool:
    """Return whether there is a file of that name."""
    try:
        with opened(segment_place(file_name, afresh=True)):
            return True
    except SegmentDamagedError as damage:
        return damage.code != Damage.MISSING


def write_segment(
    segment_uuid: UUID, file_name: str, records: Iterable[EventRecord], step: Step = no_step
) -> SegmentSummary:
    """Write and read back a file, which then appears under its name.

    records: at least one, in ascending `archive_order` (ValueError). step: called before each of WRITE_STEPS, or of
    PUT_STEPS. Raises SegmentDamagedError when what was read back is not what was written. Leaves nothing behind when it
    fails, but for a bucket whose answer was lost; when the process is killed, perhaps a part (`remove_parts`).
    """
    return archive().write(segment_uuid, file_name, records, step)


def remove_file(file_name: str) -> bool:
    """Remove a file for good; return False when it was not there."""
    return archive().remove(file_name)


def remove_parts() -> int:
    """Remove what killed processes left half written; return how many. No other process may be writing."""
    return archive().remove_parts()


def set_aside(file_name: str) -> None:
    """Move a file into the quarantine. Raises SegmentDamagedError when it is not there."""
    archive().set_aside(file_name)


def list_files() -> ArchiveListing:
    """Return which files there are."""
    return archive().listing()


def kept_files() -> list[tuple[str, AbstractContextManager[IO[bytes]]]]:
    """List what a backup needs: the path below the folder of the timeline, and what opens it.

    Under the lock of maintenance all of it stays as it is.
    """
    place = archive()
    return [(name, place.reading(name)) for name in place.kept()]


def keep_only(file_names: Iterable[str]) -> None:
    """Remove from this machine's disk what it keeps of other files of a bucket."""
    if settings.TIMELINE_URL:
        _parts.get().forget_others(set(file_names))


def forget_parts() -> None:
    """Begin with the cache anew, in the folder of the settings."""
    _parts.forget()


def _new_parts() -> PartCache:
    return PartCache(Path(settings.FILES_CACHE_DIR) / "timeline", settings.MEMORYHUB.files_cache_mb * _MIB)


_parts = PerProcess(_new_parts)


class DiskNearlyFullError(UnavailableError):
    """Nothing was written: the little room that is left is for the database."""

    code = "disk_nearly_full"


def free_mb() -> float:
    """Return how many MiB are free where segments are written."""
    return shutil.disk_usage(archive().room_directory()).free / _MIB


def require_room() -> None:
    """Raise DiskNearlyFullError when less than `min_free_mb` is free."""
    free, least = free_mb(), settings.MEMORYHUB.timeline.min_free_mb
    if free < least:
        raise DiskNearlyFullError(f"{free:.0f} MiB are free, and {least} MiB must stay so.", retry_after=600)
