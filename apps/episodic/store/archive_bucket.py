"""Segment files in a bucket (docs/decisions/0100).

A file is written and verified on this machine, in a file without a name, put under a name that none has, and read
back. What is read of it is kept on this machine's disk. OSErrors (no answer, no room, no permission) pass through.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from uuid import UUID

from apps.core.file_roots import ID_FILE, own_folder
from apps.core.object_storage.bucket import BucketFolder
from apps.core.object_storage.cached import CachedFile, OpenCachedFile, PartCache
from apps.core.steps import Step
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.access import DiskFile, OpenFile
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError, SegmentSummary
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.store.segment_files import (
    QUARANTINE,
    THE_TIMELINE,
    ArchiveListing,
    aside_name,
    is_file_name,
    require_file_name,
    write_stream,
)


class ArchivedObject(CachedFile):
    """A segment file of a bucket. One that is missing counts only while the bucket is this hub's."""

    def open(self) -> OpenCachedFile:
        with self.own():
            return OpenArchivedObject(self)

    @contextlib.contextmanager
    def own(self) -> Iterator[None]:
        """Raise UnavailableError instead of FileNotFoundError where the bucket is not this hub's."""
        try:
            yield
        except FileNotFoundError:
            own_folder(self.folder, THE_TIMELINE, afresh=True)
            raise


class OpenArchivedObject(OpenCachedFile):
    """Such a file while it is read."""

    def __init__(self, file: ArchivedObject) -> None:
        super().__init__(file)
        self._own = file.own

    def read(self, offset: int, size: int) -> bytes:
        """Return these bytes, fewer at the end of the file."""
        with self._own():
            return super().read(offset, size)


@dataclass(frozen=True)
class Unnamed:
    """A file that has no name yet, by its descriptor, which stays open when it was read."""

    descriptor: int

    def open(self) -> OpenFile:
        return DiskFile(os.dup(self.descriptor))


@dataclass(frozen=True)
class ArchiveBucket:
    """The folder of a bucket, which is this hub's. directory: where files are written before they are put there."""

    folder: BucketFolder
    directory: Path
    cache: PartCache

    def place(self, name: str, *, afresh: bool = False) -> ArchivedObject:
        """Return where a file is, of which nothing is kept here if `afresh`. Raises ValueError for any other name."""
        if afresh:
            self.cache.forget(require_file_name(name))
        return ArchivedObject(self.folder, require_file_name(name), self.cache)

    def write(self, segment_uuid: UUID, name: str, records: Iterable[EventRecord], step: Step) -> SegmentSummary:
        """Write a file, which appears whole, and is read back. Leaves nothing on this machine, even if killed."""
        require_file_name(name)
        step("create")
        with tempfile.TemporaryFile(dir=self.room_directory(), buffering=1 << 20) as stream:
            summary = write_stream(segment_uuid, stream, records, step)
            step("verify")
            SegmentFile.open(Unnamed(stream.fileno()), segment_uuid).verify(summary.sha256)
            step("put")
            self.folder.put_new(name, stream, summary.sha256)
        step("done")
        return summary

    def remove(self, name: str) -> bool:
        """Remove a file for good, and what this machine keeps of it; return False when it was not there."""
        try:
            return self.folder.remove(require_file_name(name))
        finally:
            self.cache.forget(name)

    def remove_parts(self) -> int:
        """Return 0: what a killed process was writing had no name."""
        return 0

    def set_aside(self, name: str) -> None:
        """Move a file into the quarantine. Raises SegmentDamagedError when it is not there."""
        aside = aside_name(require_file_name(name), self.listing().quarantined)
        try:
            self.folder.move(name, f"{QUARANTINE}/{aside}")
        except FileNotFoundError as error:
            raise SegmentDamagedError(Damage.MISSING, "There is no such file.") from error
        self.cache.forget(name)

    def listing(self) -> ArchiveListing:
        """Return what is in the folder."""
        prefix = f"{QUARANTINE}/"
        found = [name for name in self.folder.names() if name != ID_FILE]
        aside = tuple(name.removeprefix(prefix) for name in found if name.startswith(prefix))
        segments = tuple(name for name in found if is_file_name(name))
        others = tuple(name for name in found if not (is_file_name(name) or name.startswith(prefix)))
        return ArchiveListing(segments, (), aside, others)

    def kept(self) -> list[str]:
        """Return the names of what a backup needs."""
        return self.folder.names()

    @contextlib.contextmanager
    def reading(self, kept: str) -> Iterator[IO[bytes]]:
        """Fetch one of `kept`, and open it."""
        with tempfile.TemporaryFile(dir=self.room_directory()) as file:
            for piece in self.folder.pieces(kept):
                file.write(piece)
            file.seek(0)
            yield file

    def room_directory(self) -> Path:
        """Return where room is needed."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self.directory
