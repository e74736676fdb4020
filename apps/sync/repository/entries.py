"""What a source consists of, as the readers of git and of folders report it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from apps.sync.domain.knowledge import RefusedFile
from apps.sync.domain.readers.found import SYMLINK

__all__ = [
    "FILE_CHANGED",
    "FILE_UNREADABLE",
    "HARD_LINK",
    "OBJECT_DAMAGED",
    "PASSING_CODES",
    "SYMLINK",
    "TOO_LARGE",
    "FileEntry",
    "FileUnreadableError",
    "LoggedCommit",
    "SourceReader",
    "Touched",
]
HARD_LINK = "hard_link"
TOO_LARGE = "too_large"
OBJECT_DAMAGED = "object_damaged"
FILE_UNREADABLE = "file_unreadable"
FILE_CHANGED = "file_changed"
# Of files that may be read by a later try: what is known of them stays.
PASSING_CODES = frozenset({OBJECT_DAMAGED, FILE_UNREADABLE, FILE_CHANGED, HARD_LINK})


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file at a commit. blob: what identifies its content, see `KnowledgeFile.blob`. size: in bytes."""

    path: str
    blob: str
    size: int


@dataclass(frozen=True, slots=True)
class Touched:
    """What changed between two commits. entries: by path; None for a file that is gone. commits: how many."""

    entries: Mapping[str, FileEntry | RefusedFile | None]
    commits: int

    @property
    def paths(self) -> frozenset[str]:
        """Return the paths that changed."""
        return frozenset(self.entries)


@dataclass(frozen=True, slots=True)
class LoggedCommit:
    """A commit that changed a file. subject: the first line of its message, at most 200 characters."""

    commit: str
    at: datetime
    subject: str


class FileUnreadableError(Exception):
    """One file of a source cannot be read; the others can. refused: as it is reported."""

    def __init__(self, refused: RefusedFile) -> None:
        super().__init__(refused.detail)
        self.refused = refused


class SourceReader(Protocol):
    """Reads the files of one source at commits. In a folder a commit is the digest of its manifest."""

    def head(self) -> str:
        """Return the present commit, after fetching. Raises KnowledgeUnavailableError."""

    def list(self, commit: str) -> Iterator[FileEntry | RefusedFile]:
        """Yield the files that the source wants, with those that are refused. Raises KnowledgeUnavailableError."""

    def touched(self, old: str, new: str, stored: Mapping[str, str] | None = None) -> Touched:
        """Return what changed. Raises CommitGoneError where `old` is not in the history of `new`.

        stored: blobs by path as the last sync left them; a folder, which has no history, is compared with them.
        """

    def entries(self, commit: str, paths: Iterable[str]) -> dict[str, FileEntry | RefusedFile | None]:
        """Return some files at a commit; None for those that are not there or not wanted."""

    def read(self, entry: FileEntry) -> bytes:
        """Return the content of a file. Raises FileUnreadableError."""

    def read_at(self, path: str, commit: str) -> bytes:
        """Return a file as it was at a commit. Raises NotFoundError; does not fetch."""

    def log(self, path: str, limit: int = 20) -> tuple[LoggedCommit, ...]:
        """Return the last commits that changed a file, the newest first; none for a folder. Does not fetch."""
