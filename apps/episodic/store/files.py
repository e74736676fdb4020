"""The directory of segment files: `<data>/timeline`, and its room (DESIGN D8). Knows nothing of the catalogue.

A file appears under its name only when it is complete, on the medium and verified. Names hold nothing of a
user. OSErrors (a full disk, no permission) pass through.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from django.conf import settings

from apps.core.domain.errors import UnavailableError
from apps.core.file_roots import ID_FILE, own_folder
from apps.core.files import sync_directory
from apps.core.steps import Step, no_step
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError, SegmentSummary
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.segment_file.writer import SegmentWriter

SUFFIX = ".segment"
PART_SUFFIX = ".segment.part"
QUARANTINE = "quarantine"
WRITE_STEPS = ("create", "write", "flush", "fsync", "verify", "rename", "fsync_directory", "done")
_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,89}\.segment")
_MIB = 1024 * 1024


@dataclass(frozen=True)
class DirectoryListing:
    """Names in the archive's directory, ascending. others: what maintenance did not put there."""

    segments: tuple[str, ...]
    parts: tuple[str, ...]
    quarantined: tuple[str, ...]
    others: tuple[str, ...]


def archive_dir() -> Path:
    """Return the directory of segment files, created if it is missing; for its owner only.

    Raises UnavailableError for one that is not this hub's: what is not seen there is not lost.
    """
    directory = own_folder(Path(settings.TIMELINE_DIR), "the timeline")
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory


def new_file_name(segment_uuid: UUID, now: datetime) -> str:
    """Return a new name for a file of a segment: a process may still know the tables of the last one."""
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%S%f}-{segment_uuid}{SUFFIX}"


def segment_path(file_name: str) -> Path:
    """Return the path of a file. Raises ValueError for a name that is none of a segment file, such as a path."""
    if not _NAME.fullmatch(file_name):
        raise ValueError("That is no name of a segment file.")
    return archive_dir() / file_name


def write_segment(
    segment_uuid: UUID, file_name: str, records: Iterable[EventRecord], step: Step = no_step
) -> SegmentSummary:
    """Write, sync and read back a file, which then appears under its name, in place of one that had it.

    records: at least one, in ascending `archive_order` (ValueError). step: called before each of WRITE_STEPS.
    Raises SegmentDamagedError when what was read back is not what was written. Leaves nothing behind when it fails;
    when the process is killed, perhaps a part (`remove_parts`).
    """
    path = segment_path(file_name)
    part = path.with_name(path.stem + PART_SUFFIX)
    try:
        step("create")
        summary = write_part(segment_uuid, part, records, step)
        step("verify")
        SegmentFile.open(part, segment_uuid).verify(summary.sha256)
        step("rename")
        part.rename(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    step("fsync_directory")
    sync_directory(path.parent)
    step("done")
    return summary


def remove_file(file_name: str) -> bool:
    """Remove a file for good; return False when it was not there."""
    path = segment_path(file_name)
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    sync_directory(path.parent)
    return True


def remove_parts() -> int:
    """Remove what killed processes left half written; return how many. No other process may be writing."""
    names = list_files().parts
    for name in names:
        (archive_dir() / name).unlink(missing_ok=True)
    return len(names)


def set_aside(file_name: str) -> Path:
    """Move a file into the quarantine; return its new path. Raises SegmentDamagedError when it is not there."""
    path = segment_path(file_name)
    quarantine = archive_dir() / QUARANTINE
    quarantine.mkdir(mode=0o700, exist_ok=True)
    target, number = quarantine / file_name, 1
    while target.exists():
        number += 1
        target = quarantine / f"{path.stem}-{number}{SUFFIX}"
    try:
        path.rename(target)
    except FileNotFoundError as error:
        raise SegmentDamagedError(Damage.MISSING, "There is no such file.") from error
    sync_directory(quarantine)
    sync_directory(path.parent)
    return target


def list_files() -> DirectoryListing:
    """Return what is in the directory."""
    names = sorted(entry.name for entry in archive_dir().iterdir() if entry.name not in {QUARANTINE, ID_FILE})
    segments = tuple(name for name in names if _NAME.fullmatch(name))
    parts = tuple(name for name in names if name.endswith(PART_SUFFIX))
    quarantine = archive_dir() / QUARANTINE
    aside = tuple(sorted(entry.name for entry in quarantine.iterdir())) if quarantine.is_dir() else ()
    return DirectoryListing(segments, parts, aside, tuple(sorted({*names} - {*segments} - {*parts})))


def kept_files() -> list[tuple[str, Path]]:
    """List what a backup needs of the directory: path below it, and where it is; parts are left out.

    Under the lock of maintenance all of it stays as it is.
    """
    directory = archive_dir()
    files = [path for path in directory.rglob("*") if path.is_file() and not path.is_symlink()]
    return sorted((str(path.relative_to(directory)), path) for path in files if not path.name.endswith(PART_SUFFIX))


def write_part(segment_uuid: UUID, part: Path, records: Iterable[EventRecord], step: Step) -> SegmentSummary:
    """Write and sync a file under the name of its part."""
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb", buffering=1 << 20) as stream:
        step("write")
        writer = SegmentWriter(stream, segment_uuid)
        for record in records:
            writer.add(record)
        summary = writer.finish()
        step("flush")
        stream.flush()
        step("fsync")
        os.fsync(descriptor)
        if hasattr(os, "posix_fadvise"):  # so that verification reads the medium and not memory
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    return summary


class DiskNearlyFullError(UnavailableError):
    """Nothing was written: the little room that is left is for the database."""

    code = "disk_nearly_full"


def free_mb() -> float:
    """Return how many MiB are free where segments are kept."""
    return shutil.disk_usage(archive_dir()).free / _MIB


def require_room() -> None:
    """Raise DiskNearlyFullError when less than `min_free_mb` is free."""
    free, least = free_mb(), settings.MEMORYHUB.timeline.min_free_mb
    if free < least:
        raise DiskNearlyFullError(f"{free:.0f} MiB are free, and {least} MiB must stay so.", retry_after=600)
