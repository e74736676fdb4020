"""Files that commands write for operators, and names that outlast a loss of power."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from django.core.management.base import CommandError


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Create a file for its owner only; when something goes wrong, none is left."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise unwritable(path, error) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise unwritable(path, error) from error
        raise


def unwritable(path: Path, error: OSError) -> CommandError:
    """Return the error for a file that the system refuses to write."""
    return CommandError(f"{path} cannot be written: {error.strerror or type(error).__name__}.")


def exchange_file(path: Path, text: str) -> None:
    """Write a file so that whoever reads it finds the former text or this one, whole. Raises OSError.

    For what can be made again: after a loss of power it may be missing.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.{os.getpid()}.part")
    aside.write_text(text)
    aside.replace(path)


def sync_directory(directory: Path) -> None:
    """Wait until the names in a directory are on the disk."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
