"""Private files that belong to rows: a row comes before its files and goes after them.

Whole files are in a folder of this machine or, where hubs of several hosts keep their files in a bucket, there
(docs/decisions/0100). What is being written is always on the machine that writes it.
"""

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from apps.core.domain.errors import UnavailableError
from apps.core.file_roots import own_folder
from apps.core.object_storage.bucket import PIECE_BYTES, BucketFolder, StoreError

# Nothing is written, or read from a copy, for so long.
LEFT_SECONDS = 12 * 3_600


@dataclass(frozen=True)
class RowFiles:
    """The files of the rows of a model, each named by the `uuid` of its row and a suffix.

    setting: how the names of the settings of their folders begin, such as "DOWNLOADS". suffix: of the whole file.
    Where whole files are in a bucket, what reads or removes them raises UnavailableError while it does not answer.
    """

    setting: str
    model: Any
    suffix: str

    @property
    def directory(self) -> Path:
        """Return their directory on this machine, which may not be there."""
        return Path(getattr(settings, f"{self.setting}_DIR"))

    def prepare(self) -> Path:
        """Return their directory; create it for its owner only."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self.directory

    def file(self, uuid: UUID, suffix: str) -> Path:
        """Return the place of a file of a row on this machine."""
        return self.directory / f"{uuid}{suffix}"

    def keep(self, uuid: UUID, part: str) -> None:
        """Let a file that was written on this machine become the whole file. part: its suffix until then.

        Raises FileNotFoundError where it was removed meanwhile.
        """
        path, whole = self.file(uuid, part), self._name(uuid)
        with asking(self) as bucket:
            if bucket is None:
                path.replace(self.file(uuid, self.suffix))
                return
            with path.open("rb") as stream:
                sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
                bucket.remove(whole)  # of a process that was killed before it said so
                bucket.put_new(whole, stream, sha256)
        path.unlink(missing_ok=True)

    def is_there(self, uuid: UUID) -> bool:
        """Return whether a row has its whole file."""
        with asking(self) as bucket:
            return self.file(uuid, self.suffix).exists() if bucket is None else bucket.exists(self._name(uuid))

    def pieces(self, uuid: UUID) -> Iterator[bytes]:
        """Yield the whole file of a row in parts. Raises FileNotFoundError."""
        with asking(self) as bucket:
            if bucket is not None:
                yield from bucket.pieces(self._name(uuid))
                return
            with self.file(uuid, self.suffix).open("rb") as file:
                while piece := file.read(PIECE_BYTES):
                    yield piece

    @contextmanager
    def fetched(self, uuid: UUID) -> Iterator[Path]:
        """Yield where the whole file of a row can be read on this machine, as long as the block lasts.

        Raises FileNotFoundError.
        """
        with asking(self) as bucket:
            if bucket is None:
                yield self.file(uuid, self.suffix)
                return
            path = self._copy(bucket, uuid)
            try:
                yield path
            finally:
                path.unlink(missing_ok=True)

    def _copy(self, bucket: BucketFolder, uuid: UUID) -> Path:
        """Return a copy of the whole file of a row on this machine, of the same age."""
        path: Path | None = None
        try:
            descriptor, name = tempfile.mkstemp(dir=self.prepare(), prefix=f"{uuid}.", suffix=".copy")
            path = Path(name)
            with os.fdopen(descriptor, "wb") as copy:
                for piece in bucket.pieces(self._name(uuid)):
                    copy.write(piece)
            written_at = bucket.written_at(self._name(uuid))
            os.utime(path, (written_at, written_at))
        except OSError as error:
            if path is not None:
                path.unlink(missing_ok=True)
            if isinstance(error, FileNotFoundError | StoreError):
                raise
            raise unreachable(error) from error  # this machine has no room: another one may have it
        return path

    def try_remove(self, uuid: UUID) -> bool:
        """Remove the files of a row where they can be reached; return whether they could."""
        try:
            self.remove(uuid)
        except UnavailableError:
            return False
        return True

    def remove(self, uuid: UUID) -> None:
        """Remove the files of a row; safe to repeat. What another machine is writing for it, that one removes."""
        for path in self.directory.glob(f"{uuid}.*"):
            path.unlink(missing_ok=True)
        with asking(self) as bucket:
            if bucket is not None:
                bucket.remove(self._name(uuid))

    def strays(self) -> list[str]:
        """Return the names of files that belong to no row, such as those of a process that was killed."""
        with asking(self) as bucket:
            here = [path.name for path in self.directory.glob("*")]
            found = sorted({*here, *(bucket.names() if bucket else ())})
        known = {str(uuid) for uuid in self.model.objects.values_list("uuid", flat=True)} if found else set()
        return [name for name in found if name.partition(".")[0] not in known]

    def remove_strays(self) -> None:
        """Remove the files that belong to no row, and what killed processes left here; safe to repeat."""
        strays = self.strays()
        with asking(self) as bucket:
            for name in strays:
                (self.directory / name).unlink(missing_ok=True)
                if bucket is not None:
                    bucket.remove(name)
            for path in self.directory.glob("*") if bucket else ():  # whole files are not here
                with contextlib.suppress(FileNotFoundError):
                    if time.time() - path.stat().st_ctime > LEFT_SECONDS:
                        path.unlink()

    def _name(self, uuid: UUID) -> str:
        return f"{uuid}{self.suffix}"


@contextmanager
def asking(files: RowFiles) -> Iterator[BucketFolder | None]:
    """Yield the folder of a bucket that has the whole files; None where this machine has them.

    Raises UnavailableError for a bucket that is another hub's, and in place of what its store refuses.
    """
    url = getattr(settings, f"{files.setting}_URL")
    if not url:
        yield None
        return
    try:
        # The folder beside it, which has the id of the hub, says whose bucket it is.
        own_folder(BucketFolder.at(settings.TIMELINE_URL), "files")
        yield BucketFolder.at(url)
    except StoreError as error:
        raise unreachable(error) from error
    except UnavailableError as error:
        if isinstance(error.__cause__, StoreError):
            raise unreachable(error.__cause__) from error
        raise


def unreachable(error: OSError) -> UnavailableError:
    """Return what is said of files that cannot be read or written now."""
    return UnavailableError(f"Files cannot be reached: {error.strerror}.", code="files_unreachable")
