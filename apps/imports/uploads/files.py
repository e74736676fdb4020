"""The files that people upload: where they are, while they are received and until they are removed."""

import logging
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopUpload

from apps.core.row_files import RowFiles
from apps.imports.models import Import

logger = logging.getLogger(__name__)
FILE, PART = ".upload", ".upload.part"
UPLOADS = RowFiles("UPLOADS", Import, FILE)


def write_part(uuid: UUID, chunks: Iterable[bytes]) -> None:
    """Write a file for its owner only, beside its place, until it is on the disk. Raises OSError."""
    UPLOADS.prepare()
    path = UPLOADS.file(uuid, PART)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        for chunk in chunks:
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def stop_when_full() -> Iterator[None]:
    """End an upload that the disk does not take: the form then has no file."""
    try:
        yield
    except OSError as error:
        logger.warning("an upload could not be written: %s", error.strerror)
        raise StopUpload from error


class NamelessUploadHandler(FileUploadHandler):
    """Receives a file in the data directory under no name, so that a process that is killed leaves nothing of it."""

    file: Any

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Begin a file. Raises StopUpload where the disk takes none."""
        super().new_file(*args, **kwargs)
        with stop_when_full():
            self.file = tempfile.TemporaryFile(dir=UPLOADS.prepare())  # noqa: SIM115  (closed with the request)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Add to the file. Raises StopUpload where the disk takes no more."""
        with stop_when_full():
            self.file.write(raw_data)

    def file_complete(self, file_size: int) -> UploadedFile:
        """Return the file as it was received. Raises StopUpload where the disk takes no more."""
        with stop_when_full():
            self.file.seek(0)  # writes what is left
        return UploadedFile(self.file, self.file_name, self.content_type, file_size, self.charset)
