"""Parts of files of a bucket, kept on the disk of this machine: a file of one name never changes.

A cache: what is damaged or missing in it is asked of the store again, and what cannot be written is not kept.
"""

import contextlib
import os
import shutil
import threading
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from apps.core.object_storage.bucket import BucketFolder

PART_BYTES = 256 * 1024
# How many parts are asked for at once.
PARTS_AT_ONCE = 16
# Before each part on the disk: the size of the whole file, and the digest of the part.
SIZE_BYTES, DIGEST_BYTES = 8, 16
HEAD_BYTES = SIZE_BYTES + DIGEST_BYTES
# A part says at most so often that it is in use.
TOUCH_SECONDS = 3_600
# Once the cache is full, the parts that were not used for longest go, until so much of it is left.
LEFT_SHARE = 0.8


class PartCache:
    """The parts of files that were read last, in a folder with at most about so many bytes in it.

    Processes of one machine share the folder. Each looks through it when it begins, and whenever it has written a
    sixteenth of what fits in.
    """

    def __init__(self, directory: Path, max_bytes: int) -> None:
        self.directory, self.max_bytes = directory, max_bytes
        self._written = max_bytes
        self._lock = threading.Lock()

    def read(self, folder: BucketFolder, name: str, number: int, count: int) -> tuple[list[bytes], int]:
        """Return consecutive parts of a file, fewer at its end, and its whole size. Raises FileNotFoundError.

        What is not here is fetched, parts that follow each other at once.
        """
        parts: list[bytes] = []
        whole = 0
        while len(parts) < count and (not whole or (number + len(parts)) * PART_BYTES < whole):
            place = number + len(parts)
            known = self._known(name, place)
            if known is not None:
                whole = known[1]
                parts.append(known[0])
                continue
            wanted = 1
            while wanted < min(count - len(parts), PARTS_AT_ONCE) and not self._is_here(name, place + wanted):
                wanted += 1
            data, whole = folder.read(name, place * PART_BYTES, wanted * PART_BYTES)
            fetched = [data[start : start + PART_BYTES] for start in range(0, len(data), PART_BYTES)]
            for further, part in enumerate(fetched):
                self._keep(name, place + further, part, whole)
            parts += fetched
            if not fetched:
                break
        return parts, whole

    def forget(self, name: str) -> None:
        """Remove what is kept of a file."""
        shutil.rmtree(self.directory / name, ignore_errors=True)

    def forget_others(self, names: Collection[str]) -> None:
        """Remove what is kept of all files but these."""
        with contextlib.suppress(OSError):
            for each in self.directory.iterdir():
                if each.name not in names:
                    shutil.rmtree(each, ignore_errors=True)

    def _path(self, name: str, number: int) -> Path:
        return self.directory / name / f"{number}"

    def _is_here(self, name: str, number: int) -> bool:
        with contextlib.suppress(OSError):
            return self._path(name, number).exists()
        return False

    def _known(self, name: str, number: int) -> tuple[bytes, int] | None:
        try:
            with self._path(name, number).open("rb") as file:
                content = file.read()
                if time.time() - os.fstat(file.fileno()).st_mtime > TOUCH_SECONDS:
                    os.utime(file.fileno())
        except OSError:
            return None
        head, part = content[:HEAD_BYTES], content[HEAD_BYTES:]
        if head[SIZE_BYTES:] != _digest(head[:SIZE_BYTES], part):
            return None
        return part, int.from_bytes(head[:SIZE_BYTES], "little")

    def _keep(self, name: str, number: int, part: bytes, whole: int) -> None:
        path = self._path(name, number)
        size = whole.to_bytes(SIZE_BYTES, "little")
        with contextlib.suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            aside = path.with_name(f"{number}.{os.getpid()}.{threading.get_ident()}")
            aside.write_bytes(size + _digest(size, part) + part)
            aside.replace(path)
        with self._lock:
            self._written += len(part)
            is_due = self._written >= self.max_bytes // 16
            if is_due:
                self._written = 0
        if is_due:
            self._make_room()

    def _make_room(self) -> None:
        kept: list[tuple[float, int, Path]] = []
        with contextlib.suppress(OSError):  # others remove folders meanwhile
            for path in self.directory.glob("*/*"):
                with contextlib.suppress(OSError):
                    found = path.stat()
                    kept.append((found.st_mtime, found.st_size, path))
        size = sum(one[1] for one in kept)
        if size <= self.max_bytes:
            return
        for _, its_size, path in sorted(kept):
            if size <= LEFT_SHARE * self.max_bytes:
                return
            with contextlib.suppress(OSError):
                path.unlink()
            size -= its_size


def _digest(size: bytes, part: bytes) -> bytes:
    return blake2b(size + part, digest_size=DIGEST_BYTES).digest()


@dataclass(frozen=True)
class CachedFile:
    """Where a file of a bucket is, and how it is read. Equal for the same file."""

    folder: BucketFolder
    name: str
    cache: PartCache = field(compare=False)

    def open(self) -> "OpenCachedFile":
        """Return it for reading. Raises FileNotFoundError, StoreError."""
        return OpenCachedFile(self)


class OpenCachedFile:
    """A file of a bucket while it is read, with the parts that were read last. size: in bytes."""

    def __init__(self, file: CachedFile) -> None:
        self._file = file
        parts, self.size = file.cache.read(file.folder, file.name, 0, 1)
        self._parts: dict[int, bytes] = dict(enumerate(parts))

    def read(self, offset: int, size: int) -> bytes:
        """Return these bytes, fewer at the end of the file. Raises FileNotFoundError, StoreError."""
        first, last = offset // PART_BYTES, (offset + size - 1) // PART_BYTES
        wanted = range(first, last + 1)
        if not self._parts.keys() >= set(wanted):
            parts, _ = self._file.cache.read(self._file.folder, self._file.name, first, len(wanted))
            self._parts = dict(zip(wanted, parts, strict=False))
        start = offset - first * PART_BYTES
        return b"".join(self._parts.get(number, b"") for number in wanted)[start : start + size]

    def close(self) -> None:
        """Forget the parts."""
        self._parts.clear()
