"""Reads the files of a plain folder. It has no history: a commit is the digest of names and contents.

No link is followed: each folder is opened in the one above it, so that nothing that is exchanged while it is read can
lead elsewhere. Nor is a file read that has several names, of which one may be elsewhere.
"""

import contextlib
import hashlib
import json
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from django.conf import settings

from apps.core.domain.errors import NotFoundError
from apps.sync.domain.errors import CommitGoneError, KnowledgeUnavailableError
from apps.sync.domain.knowledge import RefusedFile
from apps.sync.domain.paths import MAX_PATH_CHARS, is_skipped, path_problem, shown_path
from apps.sync.repository.entries import (
    FILE_CHANGED,
    FILE_UNREADABLE,
    HARD_LINK,
    SYMLINK,
    TOO_LARGE,
    FileEntry,
    FileUnreadableError,
    LoggedCommit,
    Touched,
)
from apps.sync.repository.locations import local_path, parse_location, private_folders
from apps.sync.repository.source import ReadLimits, SourceSettings, too_large, too_many_files

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# A file that was changed shortly before it was read may change again without another time.
_SETTLED_NS = 2_000_000_000
_ENTRIES_PER_FILE = 20
_MAX_ENTERED_BYTES = 4 * MAX_PATH_CHARS

Rows = list[FileEntry | RefusedFile | None]
Folders = list[bytes]


class PrivateFolderError(PermissionError):
    """A folder is the hub's own. It is left out where a source contains it."""


class FolderReader:
    """A `SourceReader` of a folder."""

    def __init__(self, source: SourceSettings, limits: ReadLimits) -> None:
        self.source, self.limits = source, limits
        self.wanted = source.wanted
        self._root: int | None = None
        self._private = frozenset[tuple[int, int]]()
        self._manifest: dict[str, FileEntry | RefusedFile] | None = None
        self._commit = ""

    def close(self) -> None:
        """Close the folder."""
        if self._root is not None:
            os.close(self._root)
            self._root = None

    def head(self) -> str:
        """Read all names and what has changed, and return their digest. Raises KnowledgeUnavailableError."""
        self._manifest = self._scan()
        rows = sorted(
            (path, entry.blob if isinstance(entry, FileEntry) else entry.code) for path, entry in self._manifest.items()
        )
        self._commit = hashlib.sha256(json.dumps(rows).encode()).hexdigest()
        return self._commit

    def list(self, commit: str) -> Iterator[FileEntry | RefusedFile]:
        """Yield the files. Raises CommitGoneError for another state than the present one."""
        yield from self._at(commit).values()

    def touched(self, old: str, new: str, stored: Mapping[str, str] | None = None) -> Touched:
        """Return what differs from the blobs of the last sync. Raises CommitGoneError without them."""
        present = self._at(new)
        if stored is None:
            raise CommitGoneError("A folder has no history.")
        if old == new:
            return Touched({}, 0)
        entries: dict[str, FileEntry | RefusedFile | None] = {
            path: entry
            for path, entry in present.items()
            if isinstance(entry, RefusedFile) or stored.get(path) != entry.blob
        }
        entries.update(dict.fromkeys(stored.keys() - present.keys()))
        return Touched(entries, 1)

    def entries(self, commit: str, paths: Iterable[str]) -> dict[str, FileEntry | RefusedFile | None]:
        """Return some files; None for those that are not there or not wanted."""
        present = self._at(commit)
        return {path: present.get(path) for path in paths}

    def read(self, entry: FileEntry) -> bytes:
        """Return the content of a file as it was when the folder was read. Raises FileUnreadableError."""
        try:
            data, _ = self._read_file(entry.path)
        except (OSError, ValueError) as error:
            raise FileUnreadableError(
                RefusedFile(entry.path, FILE_UNREADABLE, f"It cannot be read ({type(error).__name__}).")
            ) from error
        if hashlib.sha256(data).hexdigest() != entry.blob:
            raise FileUnreadableError(
                RefusedFile(
                    entry.path, FILE_CHANGED, "It changed while the folder was being read: the next sync includes it."
                )
            )
        return data

    def read_at(self, path: str, commit: str) -> bytes:
        """Return a file of the present state. Raises NotFoundError for others: a folder has no history.

        commit: empty for the present one, which needs nothing but this file.
        """
        if commit and commit != (self._commit or self.head()):
            raise NotFoundError("A folder has no history: only the present files can be read.")
        raw = path.encode()
        is_skipped_file = any(is_skipped(name) for name in raw.split(b"/"))
        if path_problem(raw) or is_skipped_file or not raw.startswith(self._prefix) or not self.wanted.has(path):
            raise NotFoundError("There is no such file in the folder.")
        try:
            return self._read_file(path)[0]
        except FileNotFoundError as error:
            raise NotFoundError("There is no such file in the folder.") from error
        except (OSError, ValueError) as error:
            raise KnowledgeUnavailableError(f"The file cannot be read ({type(error).__name__}).") from error

    def log(self, path: str, limit: int = 20) -> tuple[LoggedCommit, ...]:
        """Return nothing: a folder has no history."""
        return ()

    def _at(self, commit: str) -> dict[str, FileEntry | RefusedFile]:
        if self._manifest is None:
            self.head()
        if self._manifest is None or commit != self._commit:
            raise CommitGoneError("The folder has changed, and has no history.")
        return self._manifest

    @property
    def _prefix(self) -> bytes:
        return "".join(f"{name}/" for name in self.wanted.folders).encode()

    def _open_root(self) -> int:
        if self._root is None:
            path = local_path(parse_location(self.source.location, kind="folder"))
            self._private = frozenset(identities(private_folders()))
            try:
                self._root = os.open(path, _DIRECTORY)
                for name in self.wanted.folders:
                    inner = self._enter(name.encode(), self._root)
                    os.close(self._root)
                    self._root = inner
            except OSError as error:
                self.close()
                raise _unreadable_folder(error) from error
        return self._root

    def _enter(self, name: bytes, folder: int) -> int:
        """Open a folder in another one. Raises OSError, PrivateFolderError for one of the hub's own."""
        inner = os.open(name, _DIRECTORY, dir_fd=folder)
        if identity_of(os.fstat(inner)) in self._private:
            os.close(inner)
            raise PrivateFolderError
        return inner

    def _scan(self) -> dict[str, FileEntry | RefusedFile]:
        """Return all files. Raises KnowledgeUnavailableError, also when a folder vanishes or there are too many."""
        known = _Known(self.source)
        found: dict[str, FileEntry | RefusedFile] = {}
        deadline = time.monotonic() + self.limits.fetch_seconds
        examined, waiting = 0, [b""]
        while waiting:
            try:
                rows, folders = self._scan_folder(waiting.pop(), known)
            except PrivateFolderError:
                continue
            except OSError as error:
                raise _unreadable_folder(error) from error
            waiting += folders
            examined += len(rows) + len(folders) + 1
            found.update((entry.path, entry) for entry in rows if entry is not None)
            if len(found) > self.limits.files or examined > self.limits.files * _ENTRIES_PER_FILE:
                raise too_many_files(self.limits.files)
            if time.monotonic() > deadline:
                raise KnowledgeUnavailableError(
                    f"The folder could not be read within {self.limits.fetch_seconds:g} seconds "
                    "(MEMORYHUB_SYNC_FETCH_SECONDS)."
                )
        known.store(found)
        return found

    def _scan_folder(self, below: bytes, known: "_Known") -> tuple[Rows, Folders]:
        """Return the files and the folders in one folder; None for what is not wanted. Raises OSError."""
        entries: Rows = []
        folders = []
        with self._folder(below) as folder:
            for row in islice(os.scandir(folder), self.limits.files * _ENTRIES_PER_FILE + 1):
                name = os.fsencode(row.name)
                if is_skipped(name):
                    entries.append(None)
                elif row.is_dir(follow_symlinks=False) and len(below + name) <= _MAX_ENTERED_BYTES:
                    folders.append(below + name + b"/")
                else:
                    entries.append(self._entry(folder, self._prefix + below + name, row, known))
        return entries, folders

    @contextlib.contextmanager
    def _folder(self, below: bytes) -> Iterator[int]:
        """Open a folder below the root, name by name. Raises OSError, KnowledgeUnavailableError for the root."""
        folder = os.dup(self._open_root())
        try:
            for name in below.split(b"/"):
                if name:
                    inner = self._enter(name, folder)
                    os.close(folder)
                    folder = inner
            yield folder
        finally:
            os.close(folder)

    def _entry(
        self, folder: int, path: bytes, row: "os.DirEntry[str]", known: "_Known"
    ) -> FileEntry | RefusedFile | None:
        shown = shown_path(path)
        if problem := path_problem(path):
            return RefusedFile(shown, *problem)
        if row.is_symlink():
            wanted = self.wanted.has(shown) or row.is_dir()
            return RefusedFile(shown, SYMLINK, "It is a symbolic link; only files are read.") if wanted else None
        if not self.wanted.has(shown) or not row.is_file(follow_symlinks=False):
            return None
        try:
            return self._hashed(folder, shown, row.name, known)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            return RefusedFile(shown, FILE_UNREADABLE, f"It cannot be read ({type(error).__name__}).")

    def _hashed(self, folder: int, path: str, name: str, known: "_Known") -> FileEntry | RefusedFile:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if status.st_nlink > 1:
            return RefusedFile(path, HARD_LINK, "It has another name (a hard link), and may be a file from elsewhere.")
        if status.st_size > self.limits.file_bytes:
            return RefusedFile(path, TOO_LARGE, too_large(status.st_size, self.limits.file_bytes))
        if blob := known.blob(path, status):
            return FileEntry(path, blob, status.st_size)
        data, status = _read(folder, os.fsencode(name), self.limits.file_bytes)
        blob = hashlib.sha256(data).hexdigest()
        known.note(path, status, blob)
        return FileEntry(path, blob, len(data))

    def _read_file(self, path: str) -> tuple[bytes, os.stat_result]:
        head, _, name = path.encode().removeprefix(self._prefix).rpartition(b"/")
        with self._folder(head) as folder:
            return _read(folder, name, self.limits.file_bytes)


class _Known:
    """Digests of files by path, size and times, so that only files that have changed are read again.

    What cannot be read is begun again: nothing is lost but time.
    """

    def __init__(self, source: SourceSettings) -> None:
        self._path = Path(settings.SYNC_DIR) / f"{source.uuid}.digests.json"
        self._began = time.time_ns()
        self._rows: dict[str, list[object]] = {}
        with contextlib.suppress(OSError, ValueError):
            rows = json.loads(self._path.read_text())
            self._rows = rows if isinstance(rows, dict) else {}
        self._new: dict[str, list[object]] = {}

    def blob(self, path: str, status: os.stat_result) -> str:
        """Return the digest of a file that has not changed, or an empty text."""
        row = self._rows.get(path)
        if isinstance(row, list) and row[:-1] == _signs(status):
            self._new[path] = row
            return str(row[-1])
        return ""

    def note(self, path: str, status: os.stat_result, blob: str) -> None:
        """Keep a digest, unless the file may still change without another time."""
        if max(status.st_mtime_ns, status.st_ctime_ns) < self._began - _SETTLED_NS:
            self._new[path] = [*_signs(status), blob]

    def store(self, found: Mapping[str, object]) -> None:
        """Write the digests of the files that are there."""
        if self._new == self._rows:
            return
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            aside = self._path.with_suffix(f".{os.getpid()}")
            aside.write_text(json.dumps(self._new))
            aside.replace(self._path)


def identity_of(status: os.stat_result) -> tuple[int, int]:
    """Return by what a folder is known under any path."""
    return status.st_dev, status.st_ino


def identities(folders: Iterable[Path]) -> Iterator[tuple[int, int]]:
    """Yield the identities of those folders that are there."""
    for folder in folders:
        with contextlib.suppress(OSError):
            yield identity_of(folder.stat())


def _signs(status: os.stat_result) -> list[object]:
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _read(folder: int, name: bytes, limit: int) -> tuple[bytes, os.stat_result]:
    """Return the content of a file with its status before. Raises OSError, ValueError for what is no file."""
    with os.fdopen(os.open(name, _FILE, dir_fd=folder), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("no file")
        if status.st_nlink > 1:
            raise ValueError("hard link")
        data = file.read(limit + 1)
        if len(data) > limit:
            raise ValueError("grew")
        return data, status


def _unreadable_folder(error: OSError) -> KnowledgeUnavailableError:
    return KnowledgeUnavailableError(
        f"A folder of the source cannot be read ({type(error).__name__}): check that it is mounted, and that the hub's "
        "user may read all of it."
    )
