"""The files of a source at a commit: read again, or taken from what the last sync read (spec 003, sync operations).

A file that cannot be read now counts as it was read last, so that a mistake in one of them neither removes its pointer
nor changes other items; it is reported by every sync until it is mended or gone.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from apps.sync.domain.errors import CommitGoneError
from apps.sync.domain.knowledge import Convention, ItemStatus, Layer, ParsedFile, ReadMapping, ReadSettings, RefusedFile
from apps.sync.domain.readers.found import SKIPPED
from apps.sync.domain.readers.read import read_file
from apps.sync.domain.readers.text import fold
from apps.sync.models import KnowledgeSource
from apps.sync.repository.entries import PASSING_CODES, FileEntry, FileUnreadableError, SourceReader
from apps.sync.repository.source import read_limits
from apps.sync.runs.stored import FILES, FileRow, Stored

# Raised when files are read otherwise than by former versions of the hub: then the next sync reads all of them.
READERS_VERSION = 2
NO_STATE, CORRUPTED, SETTINGS_CHANGED, COMMIT_GONE = "no_state", "state_corrupted", "settings_changed", "commit_gone"
Progress = Callable[[int, int], None]
Entry = FileEntry | RefusedFile


def no_progress(done: int, total: int) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class Manifest:
    """The files of a source at a commit, by path. commits: since the last sync. fallback: why all files were read."""

    commit: str
    files: Mapping[str, FileRow]
    commits: int = 0
    fallback: str = ""

    @property
    def parsed(self) -> list[ParsedFile]:
        """Return what is known of all files."""
        return [file.parsed for file in self.files.values() if file.parsed is not None]

    @property
    def remembered(self) -> frozenset[str]:
        """Return the paths of files that cannot be read now, and are as they were read last."""
        return frozenset(path for path, file in self.files.items() if file.code and file.parsed is not None)

    @property
    def unread(self) -> frozenset[str]:
        """Return the paths of files that should be items, and of which nothing is known."""
        found = (file for file in self.files.values() if file.code and file.parsed is None)
        return frozenset(file.path for file in found if file.code not in SKIPPED)

    @property
    def refused(self) -> list[RefusedFile]:
        """Return the files that could not be read as they are now, by path; not those that were no items by intent."""
        found = (file.refused for _, file in sorted(self.files.items()))
        return [refused for refused in found if refused is not None and refused.code not in SKIPPED]


def read_digest(source: KnowledgeSource) -> str:
    """Return a digest of what decides which files are read, and how."""
    parts = [
        READERS_VERSION, source.kind, source.folder, source.include, source.exclude, source.layer, source.convention,
        read_limits().file_bytes, source.mapping,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def read_manifest(
    source: KnowledgeSource, reader: SourceReader, stored: Stored, *, full: bool, progress: Progress
) -> Manifest:
    """Read the files at the present commit. An incremental sync reads those that were touched, or all, with a reason.

    Raises KnowledgeUnavailableError.
    """
    commit = reader.head()
    reading = Reading(source, reader, stored, progress)
    fallback = "" if full else reading.reason_for_all()
    if not full and not fallback:
        try:
            return reading.read_touched(commit)
        except CommitGoneError:
            fallback = COMMIT_GONE
    known = stored.remembered if FILES in stored.damaged else stored.files
    return Manifest(commit, reading.read(list(reader.list(commit)), known), commits=0, fallback=fallback)


@dataclass(frozen=True)
class Reading:
    """Reads the files of a source."""

    source: KnowledgeSource
    reader: SourceReader
    stored: Stored
    progress: Progress

    @property
    def settings(self) -> ReadSettings:
        """Return how the files are read."""
        source = self.source
        # Of a whole repository of which nothing more was said only documents of known kinds are read.
        is_whole = not source.folder and not source.include
        return ReadSettings(
            Convention(source.convention),
            Layer(source.layer),
            read_limits().file_bytes,
            ReadMapping(
                fields={fold(key): field for key, field in source.mapping.get("fields", {}).items()},
                statuses={
                    " ".join(key.casefold().split()): ItemStatus(one)
                    for key, one in source.mapping.get("statuses", {}).items()
                },
                kinds={key.strip("/"): kind.upper() for key, kind in source.mapping.get("kinds", {}).items()},
            ),
            only_known=is_whole and Convention(source.convention) is Convention.AUTO,
        )

    def reason_for_all(self) -> str:
        """Return why an incremental sync has to read all files; empty where it has not."""
        if self.stored.damaged:
            return CORRUPTED
        if not self.stored.state.files_commit:
            return NO_STATE
        return "" if self.stored.state.read_digest == read_digest(self.source) else SETTINGS_CHANGED

    def read_touched(self, commit: str) -> Manifest:
        """Read what commits have touched since, and what could not be read for a passing reason.

        Raises CommitGoneError.
        """
        known = self.stored.files
        blobs = {path: file.blob for path, file in known.items()}
        touched = self.reader.touched(self.stored.state.files_commit, commit, blobs)
        again = [path for path, file in known.items() if file.code in PASSING_CODES and path not in touched.entries]
        entries: dict[str, Entry | None] = {**touched.entries, **self.reader.entries(commit, again)}
        files = {path: file for path, file in known.items() if path not in entries}
        files |= self.read([entry for entry in entries.values() if entry is not None], known)
        return Manifest(commit, files, commits=touched.commits)

    def read(self, entries: Iterable[Entry], known: Mapping[str, FileRow]) -> dict[str, FileRow]:
        """Read files. known: as they were read last."""
        entries = list(entries)
        files = {}
        for number, entry in enumerate(entries, 1):
            files[entry.path] = self.read_one(entry, known.get(entry.path))
            self.progress(number, len(entries))
        return files

    def read_one(self, entry: Entry, before: FileRow | None) -> FileRow:
        """Read one file."""
        if isinstance(entry, RefusedFile):
            return refused_row(entry, "", before)
        try:
            found = read_file(entry.path, self.reader.read(entry), self.settings)
        except FileUnreadableError as error:
            return refused_row(error.refused, "", before)
        if isinstance(found, RefusedFile):
            return refused_row(found, entry.blob, before)
        return FileRow(entry.path, entry.blob, found)


def refused_row(refused: RefusedFile, blob: str, before: FileRow | None) -> FileRow:
    """Return the row of a file that cannot be read, with what was read of it last; of one that is no item nothing."""
    parsed = before.parsed if before and refused.code not in SKIPPED else None
    return FileRow(refused.path, blob, parsed, refused.code[:50], refused.detail[:500])
