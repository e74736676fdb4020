"""Segment files in a folder of this machine: `<data>/timeline` (DESIGN D8).

A file appears under its name only when it is complete, on the medium and verified. OSErrors (a full disk, no
permission) pass through.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from uuid import UUID

from apps.core.file_roots import ID_FILE
from apps.core.files import sync_directory
from apps.core.steps import Step
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError, SegmentSummary
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.store.segment_files import (
    PART_SUFFIX,
    QUARANTINE,
    ArchiveListing,
    aside_name,
    is_file_name,
    require_file_name,
    write_stream,
)


@dataclass(frozen=True)
class ArchiveFolder:
    """The folder, which is this hub's."""

    directory: Path

    def place(self, name: str, *, afresh: bool = False) -> Path:
        """Return where a file is. Raises ValueError for a name that is none of a segment file."""
        return self.directory / require_file_name(name)

    def write(self, segment_uuid: UUID, name: str, records: Iterable[EventRecord], step: Step) -> SegmentSummary:
        """Write a file, which appears once it was read back. Leaves at most a part behind, when it is killed."""
        path = self.place(name)
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

    def remove(self, name: str) -> bool:
        """Remove a file for good; return False when it was not there."""
        try:
            self.place(name).unlink()
        except FileNotFoundError:
            return False
        sync_directory(self.directory)
        return True

    def remove_parts(self) -> int:
        """Remove what killed processes left half written; return how many. No other process may be writing."""
        names = self.listing().parts
        for name in names:
            (self.directory / name).unlink(missing_ok=True)
        return len(names)

    def set_aside(self, name: str) -> None:
        """Move a file into the quarantine. Raises SegmentDamagedError when it is not there."""
        path = self.place(name)
        quarantine = self.directory / QUARANTINE
        quarantine.mkdir(mode=0o700, exist_ok=True)
        try:
            path.rename(quarantine / aside_name(name, self.listing().quarantined))
        except FileNotFoundError as error:
            raise SegmentDamagedError(Damage.MISSING, "There is no such file.") from error
        sync_directory(quarantine)
        sync_directory(self.directory)

    def listing(self) -> ArchiveListing:
        """Return what is in the folder."""
        names = sorted(entry.name for entry in self.directory.iterdir() if entry.name not in {QUARANTINE, ID_FILE})
        segments = tuple(name for name in names if is_file_name(name))
        parts = tuple(name for name in names if name.endswith(PART_SUFFIX))
        quarantine = self.directory / QUARANTINE
        aside = tuple(sorted(entry.name for entry in quarantine.iterdir())) if quarantine.is_dir() else ()
        return ArchiveListing(segments, parts, aside, tuple(sorted({*names} - {*segments} - {*parts})))

    def kept(self) -> list[str]:
        """Return the paths of what a backup needs; parts are left out."""
        files = [path for path in self.directory.rglob("*") if path.is_file() and not path.is_symlink()]
        return sorted(str(path.relative_to(self.directory)) for path in files if not path.name.endswith(PART_SUFFIX))

    @contextlib.contextmanager
    def reading(self, kept: str) -> Iterator[IO[bytes]]:
        """Open one of `kept`."""
        with (self.directory / kept).open("rb") as file:
            yield file

    def room_directory(self) -> Path:
        """Return where room is needed."""
        return self.directory


def write_part(segment_uuid: UUID, part: Path, records: Iterable[EventRecord], step: Step) -> SegmentSummary:
    """Write and sync a file under the name of its part."""
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb", buffering=1 << 20) as stream:
        summary = write_stream(segment_uuid, stream, records, step)
        step("fsync")
        os.fsync(descriptor)
        if hasattr(os, "posix_fadvise"):  # so that verification reads the medium and not memory
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    return summary
