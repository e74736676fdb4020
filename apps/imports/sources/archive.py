"""The files that a person brings: a file, a folder, or a ZIP file, of which nothing leads outside or explodes.

Nothing is unpacked: what is read is read as a stream, and what is not needed is never opened.
"""

import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any

from apps.core.domain.errors import InvalidInputError

MAX_ENTRIES = 200_000
# Of what is read of an archive, unpacked: the largest exports of years have some gigabytes.
MAX_BYTES = 8 * 1024**3
# Text is packed to a tenth, seldom to less than a thirtieth. What is small may be packed to anything.
MAX_RATIO, FREE_BYTES = 200, 1024 * 1024
READ_SUFFIXES = (".json", ".md", ".markdown")
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


class SourceError(InvalidInputError):
    """The files cannot be read at all, or must not be. code: a word for programs."""


@dataclass(frozen=True)
class Entry:
    """A file. name: its path below the folder or in the archive. size: in bytes, unpacked."""

    name: str
    size: int
    modified: datetime | None
    open: Callable[[], Any] = field(repr=False, compare=False)

    @property
    def base(self) -> str:
        """Return the name of the file alone, in lower case."""
        return self.name.rsplit("/", 1)[-1].lower()


@contextmanager
def open_source(path: Path, name: str = "") -> Iterator[list[Entry]]:
    """Yield what is in a file, a folder or a ZIP file, sorted by name, without hidden files. Raises SourceError.

    name: of a file as its person named it, where it is kept under another name.
    """
    try:
        if path.is_dir():
            yield sorted(folder_entries(path), key=lambda entry: entry.name)
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                yield sorted(archive_entries(archive), key=lambda entry: entry.name)
        else:
            info = path.stat()
            yield [Entry(name or path.name, info.st_size, moment_of(info.st_mtime), lambda: path.open("rb"))]
    except _BROKEN as error:
        raise SourceError("This ZIP file is damaged, or packed in a way that is not read.", code="damaged") from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SourceError(f"This cannot be read: {reason}.", code="unreadable") from error


def moment_of(seconds: float) -> datetime | None:
    """Return a time of the disk; None for one that is none."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def folder_entries(root: Path) -> Iterator[Entry]:
    """Yield the files below a folder; no link is followed, and no hidden folder entered. Raises SourceError."""
    count = 0
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(folder, name)
            info = path.lstat()
            if name.startswith(".") or not stat.S_ISREG(info.st_mode):
                continue
            count += 1
            refuse_many(count)
            below = path.relative_to(root).as_posix()
            yield Entry(below, info.st_size, moment_of(info.st_mtime), lambda path=path: path.open("rb"))  # type: ignore[misc]


def archive_entries(archive: zipfile.ZipFile) -> Iterator[Entry]:
    """Yield the files of an archive. Raises SourceError for an archive with anything that a person's would not have."""
    infos = archive.infolist()
    refuse_many(len(infos))
    total = 0
    for info in infos:
        refuse_unsafe(info)
        if info.is_dir() or is_hidden(info.filename):
            continue
        if info.filename.lower().endswith(READ_SUFFIXES):
            total += info.file_size
            refuse_bomb(info, total)
        yield Entry(info.filename, info.file_size, date_of(info), lambda info=info: archive.open(info))  # type: ignore[misc]


def refuse_many(count: int) -> None:
    """Raise SourceError for too many files."""
    if count > MAX_ENTRIES:
        raise SourceError(f"There are more than {MAX_ENTRIES:,} files in it.", code="too_many_files")


def refuse_unsafe(info: zipfile.ZipInfo) -> None:
    """Raise SourceError for a name that leads out of a folder, a link, and what is encrypted."""
    name = info.orig_filename
    is_absolute = name.startswith(("/", "\\")) or name[1:2] == ":"
    if is_absolute or "\\" in name or "\x00" in name or ".." in PurePosixPath(name).parts:
        raise SourceError("A file in it has a path that leads outside, so nothing of it is read.", code="unsafe_path")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise SourceError("A file in it is a link, so nothing of it is read.", code="unsafe_path")
    if info.flag_bits & 0x1:
        raise SourceError("It is encrypted: unpack it, and bring what was in it.", code="encrypted")


def refuse_bomb(info: zipfile.ZipInfo, total: int) -> None:
    """Raise SourceError for what would unpack to far more than it is. total: bytes of it and of those before it.

    Of a file no more is unpacked than the archive says that it has.
    """
    is_dense = info.file_size > FREE_BYTES and info.file_size > MAX_RATIO * max(info.compress_size, 1)
    if is_dense or total > MAX_BYTES:
        detail = "It would unpack to far more than an export of conversations is, so nothing of it is read."
        raise SourceError(detail, code="too_large_unpacked")


def is_hidden(name: str) -> bool:
    """Return whether a file is one that systems leave in archives, or in a hidden folder."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def date_of(info: zipfile.ZipInfo) -> datetime | None:
    """Return when a file was last written, as the archive says without an offset; taken as UTC."""
    try:
        return datetime(*info.date_time, tzinfo=UTC)
    except ValueError:
        return None


class CountedFile:
    """A file that says how much of it was read."""

    def __init__(self, file: IO[bytes], count: Callable[[int], None]) -> None:
        self._file, self._count = file, count

    def read(self, size: int) -> bytes:
        """Return the next bytes, at most so many. Raises SourceError for an archive that turns out to be damaged."""
        try:
            data = self._file.read(size)
        except _BROKEN as error:
            raise SourceError("This ZIP file is damaged.", code="damaged") from error
        self._count(len(data))
        return data
